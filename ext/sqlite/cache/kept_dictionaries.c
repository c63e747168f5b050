#include "sqlite/cache/kept_dictionaries.h"

#include "base/memory.h"

#include <string.h>

/* Returns the link to the field's dictionary, or to the list's end. */
static struct clr_kept_dictionary **find(struct clr_kept_dictionary **list,
                                         const struct clr_field *field)
{
    while (*list != NULL && !clr_field_is_same(&(*list)->field, field))
        list = &(*list)->next;
    return list;
}

struct clr_dictionary *clr_kept_dictionary_find(struct clr_kept_dictionary *list,
                                                const struct clr_field *field,
                                                const struct clr_database_version *token,
                                                int64_t used)
{
    struct clr_kept_dictionary *kept = *find(&list, field);

    if (kept == NULL || memcmp(&kept->token, token, sizeof *token) != 0)
        return NULL;
    kept->used = used;
    return kept->dictionary;
}

void clr_kept_dictionary_add(struct clr_kept_dictionary **list, const struct clr_field *field,
                             const struct clr_database_version *token,
                             struct clr_dictionary *dictionary, int64_t used)
{
    struct clr_kept_dictionary **old = find(list, field), *kept;

    if (*old != NULL)
        clr_kept_dictionary_drop(old);
    kept = clr_memory_alloc(sizeof *kept);
    if (kept == NULL)
        return;
    *kept = (struct clr_kept_dictionary){.next = *list,
                                         .field = *field,
                                         .token = *token,
                                         .dictionary = clr_dictionary_retain(dictionary),
                                         .used = used};
    *list = kept;
}

struct clr_kept_dictionary **clr_kept_dictionary_oldest(struct clr_kept_dictionary **list,
                                                        int64_t scan)
{
    struct clr_kept_dictionary **oldest = NULL;

    for (; *list != NULL; list = &(*list)->next) {
        if ((*list)->used != scan && (oldest == NULL || (*list)->used < (*oldest)->used))
            oldest = list;
    }
    return oldest;
}

void clr_kept_dictionary_drop(struct clr_kept_dictionary **link)
{
    struct clr_kept_dictionary *kept = *link;

    *link = kept->next;
    clr_dictionary_release(kept->dictionary);
    clr_memory_free(kept);
}

int64_t clr_kept_dictionaries_size(const struct clr_kept_dictionary *list)
{
    int64_t size = 0;

    for (; list != NULL; list = list->next)
        size += (int64_t)clr_dictionary_size(list->dictionary);
    return size;
}

void clr_kept_dictionaries_free(struct clr_kept_dictionary **list)
{
    while (*list != NULL)
        clr_kept_dictionary_drop(list);
}
