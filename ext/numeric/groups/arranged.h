/* The listed values of a tally, those of each group together. */
#ifndef CLR_NUMERIC_GROUP_ARRANGED_H
#define CLR_NUMERIC_GROUP_ARRANGED_H

#include "numeric/groups/counted.h"
#include "numeric/groups/groups_private.h"

/* Of one type. The values of group g are x[starts[g]] up to starts[g + 1]; without any, starts is
   NULL. */
struct clr_arranged_list {
    struct clr_room starts, x, y; /* uint32_t; int64_t, bits; likewise, of pairs alone */
};

struct clr_arranged {
    struct clr_arranged_list lists[CLR_LISTS];
};

/* Arranges the parts' lists of a tally, which are freed. clr_arranged_free() is due after failures
   too. Returns as the others do. */
enum clr_scan_outcome clr_arranged_make(struct clr_arranged *arranged, struct clr_groups *groups,
                                        int tally, const struct clr_group_team *team);
void clr_arranged_free(struct clr_arranged *arranged, struct clr_group_memory *memory);

/* The values of a group in a list. */
struct clr_arranged_values {
    const int64_t *x, *y;
    size_t count;
};

static inline struct clr_arranged_values
clr_arranged_get(const struct clr_arranged *arranged, enum clr_group_list_kind kind, size_t group)
{
    const struct clr_arranged_list *list = &arranged->lists[kind];
    const uint32_t *starts = list->starts.start;
    const int64_t *y = list->y.start;

    if (starts == NULL)
        return (struct clr_arranged_values){NULL, NULL, 0};
    return (struct clr_arranged_values){(const int64_t *)list->x.start + starts[group],
                                        y == NULL ? NULL : y + starts[group],
                                        starts[group + 1] - starts[group]};
}

/* Answers to the questions of a tally, for one group after the other. */
struct clr_answering {
    struct clr_groups *groups;
    const struct clr_scan *scan;
    const struct clr_arranged *arranged;
    const struct clr_counted *counted; /* NULL: the values are arranged */
    int tally;
    const atomic_bool *stop;
    uint64_t *keys, *scratch; /* room for CLR_FEW_VALUES */
};

enum { CLR_FEW_VALUES = 4096 };

enum clr_scan_outcome clr_groups_answer_group(const struct clr_answering *answering, size_t group);

#endif
