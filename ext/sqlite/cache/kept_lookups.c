#include "sqlite/cache/kept_lookups.h"

#include "base/memory.h"

#include <string.h>

/* A table keeps so many at most: each other value of a parameter has lookups of its own. */
enum { MOST_KEPT = 256 };

static bool has_key(const struct clr_kept_lookups *kept, const struct clr_wanted_lookups *wanted)
{
    return kept->key_size == wanted->key_size &&
           memcmp(kept->key, wanted->key, wanted->key_size) == 0;
}

/* Whether a view may have the lookups: those that it knows, or others' of the same version. */
static bool is_wanted(const struct clr_kept_lookups *kept, const struct clr_wanted_lookups *wanted)
{
    return has_key(kept, wanted) &&
           (kept->id == wanted->id ||
            (kept->is_shared && wanted->token != NULL &&
             memcmp(&kept->token, wanted->token, sizeof kept->token) == 0));
}

/* Whether the lookups are to go as others of a view come: those that it had before them, and those
   of an older version. */
static bool is_replaced(const struct clr_kept_lookups *kept,
                        const struct clr_wanted_lookups *wanted)
{
    return kept->is_shared && wanted->token != NULL ? has_key(kept, wanted)
                                                    : kept->id == wanted->id;
}

void clr_kept_lookups_remove(struct clr_kept_lookups **link)
{
    struct clr_kept_lookups *kept = *link;

    *link = kept->next;
    while (kept->count > 0)
        clr_lookup_free(&kept->lookups[--kept->count]);
    clr_memory_free(kept->lookups);
    clr_memory_free(kept->key);
    clr_memory_free(kept);
}

int64_t clr_kept_lookups_size(const struct clr_kept_lookups *list)
{
    int64_t size = 0;

    for (; list != NULL; list = list->next)
        size += (int64_t)list->size;
    return size;
}

uint64_t clr_kept_lookups_find(struct clr_kept_lookups *list,
                               const struct clr_wanted_lookups *wanted, struct clr_lookup *lookups,
                               int count)
{
    struct clr_kept_lookups *kept = list;
    int i;

    while (kept != NULL && (kept->count != count || !is_wanted(kept, wanted)))
        kept = kept->next;
    if (kept == NULL)
        return 0;
    kept->used = wanted->used;
    /* The view knows that what they are of is as it was. */
    if (kept->is_shared && wanted->token != NULL &&
        clr_database_version_is_later(wanted->token, &kept->token))
        kept->token = *wanted->token;
    for (i = 0; i < count; i++)
        clr_lookup_copy(&lookups[i], &kept->lookups[i]);
    return kept->id;
}

/* Returns new ones, which are in no list, or NULL without memory. */
static struct clr_kept_lookups *make(const struct clr_wanted_lookups *wanted,
                                     const struct clr_lookup *lookups, int count)
{
    static uint64_t ids; /* with the lock */
    struct clr_kept_lookups *kept = clr_memory_alloc_zero(sizeof *kept);
    int i;

    if (kept == NULL)
        return NULL;
    kept->key = clr_memory_alloc(wanted->key_size);
    kept->lookups = clr_memory_alloc((size_t)count * sizeof *kept->lookups);
    if (kept->key == NULL || kept->lookups == NULL) {
        clr_kept_lookups_remove(&kept);
        return NULL;
    }
    memcpy(kept->key, wanted->key, wanted->key_size);
    kept->key_size = wanted->key_size;
    kept->id = ++ids;
    kept->used = wanted->used;
    kept->is_shared = wanted->token != NULL;
    if (kept->is_shared)
        kept->token = *wanted->token;
    kept->size = sizeof *kept + kept->key_size;
    for (i = 0; i < count; i++) {
        clr_lookup_copy(&kept->lookups[i], &lookups[i]);
        kept->size += sizeof lookups[i] + clr_lookup_size(&lookups[i]);
    }
    kept->count = count;
    return kept;
}

uint64_t clr_kept_lookups_add(struct clr_kept_lookups **list,
                              const struct clr_wanted_lookups *wanted,
                              const struct clr_lookup *lookups, int count)
{
    struct clr_kept_lookups **link = list, **oldest = NULL, *kept;
    int others = 0;

    while (*link != NULL) {
        if (is_replaced(*link, wanted)) {
            clr_kept_lookups_remove(link);
            continue;
        }
        others++;
        if (oldest == NULL || (*link)->used < (*oldest)->used)
            oldest = link;
        link = &(*link)->next;
    }
    if (others >= MOST_KEPT)
        clr_kept_lookups_remove(oldest);
    kept = make(wanted, lookups, count);
    if (kept == NULL)
        return 0;
    kept->next = *list;
    *list = kept;
    return kept->id;
}
