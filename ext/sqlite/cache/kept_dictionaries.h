/*
 * Dictionaries of columns that are streamed, and not kept themselves: they serve the next streams
 * of the same version of the database, and the lookups over them with them.
 */
#ifndef CLR_SQLITE_KEPT_DICTIONARIES_H
#define CLR_SQLITE_KEPT_DICTIONARIES_H

#include "numeric/dictionary/dictionary.h"
#include "numeric/values/field.h"
#include "sqlite/database/snapshot.h"

/* One of them, in a list of those of an image. */
struct clr_kept_dictionary {
    struct clr_kept_dictionary *next;
    struct clr_field field;
    struct clr_database_version token; /* of the version that it is of */
    struct clr_dictionary *dictionary;
    int64_t used; /* as that of a column */
};

/* Returns the dictionary of a field in that version, which is used by that scan, or NULL. */
struct clr_dictionary *clr_kept_dictionary_find(struct clr_kept_dictionary *list,
                                                const struct clr_field *field,
                                                const struct clr_database_version *token,
                                                int64_t used);

/* Keeps a dictionary, to which it takes a reference, in the place of an older one of the field.
   Without memory it is not kept. */
void clr_kept_dictionary_add(struct clr_kept_dictionary **list, const struct clr_field *field,
                             const struct clr_database_version *token,
                             struct clr_dictionary *dictionary, int64_t used);

/* Returns the link to the one whose use is longest ago, unless that was in this scan, or NULL. */
struct clr_kept_dictionary **clr_kept_dictionary_oldest(struct clr_kept_dictionary **list,
                                                        int64_t scan);

/* Drops the one that the link leads to. */
void clr_kept_dictionary_drop(struct clr_kept_dictionary **link);

/* Returns what they take, in bytes. */
int64_t clr_kept_dictionaries_size(const struct clr_kept_dictionary *list);

void clr_kept_dictionaries_free(struct clr_kept_dictionary **list);

#endif
