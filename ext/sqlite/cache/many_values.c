#include "sqlite/cache/many_values.h"

#include "base/memory.h"

#include <string.h>

/* Returns the link to the column's note, or to the list's end. */
static struct clr_many_values **find(struct clr_many_values **list, int index)
{
    while (*list != NULL && (*list)->index != index)
        list = &(*list)->next;
    return list;
}

bool clr_many_values_expected(struct clr_many_values *list, int index,
                              const struct clr_database_version *token)
{
    struct clr_many_values *note = *find(&list, index);

    return note != NULL &&
           (memcmp(&note->token, token, sizeof *token) == 0 || clr_backoff_skips(&note->skips));
}

void clr_many_values_found(struct clr_many_values **list, int index,
                           const struct clr_database_version *token)
{
    struct clr_many_values *note = *find(list, index);

    if (note == NULL) {
        note = clr_memory_alloc(sizeof *note);
        if (note == NULL)
            return;
        *note = (struct clr_many_values){.next = *list, .index = index};
        *list = note;
    }
    note->token = *token;
    clr_backoff_failed(&note->skips, 2);
}

void clr_many_values_forget(struct clr_many_values **list, int index)
{
    struct clr_many_values **link = find(list, index), *note = *link;

    if (note == NULL)
        return;
    *link = note->next;
    clr_memory_free(note);
}

void clr_many_values_free(struct clr_many_values **list)
{
    while (*list != NULL)
        clr_many_values_forget(list, (*list)->index);
}
