/* Checks of groups on the host, against a scan of each group's rows alone. */
#ifndef CLR_TESTS_GROUP_CHECKS_H
#define CLR_TESTS_GROUP_CHECKS_H

#include "engine/host/host_groups.h"
#include "engine/slow_groups.h"
#include "numeric/groups/group_scan.h"

/* One after the other, in an order that threads might have. */
static bool run_serially(void *context, int count, clr_portion_work *work, void *argument)
{
    const atomic_bool never = false;
    int i;

    (void)context;
    for (i = count - 1; i >= 0; i--)
        work(argument, i, &never);
    return true;
}

static void check(struct made *made, int threads, const char *what)
{
    const struct clr_group_team team = {.size = threads, .run = run_serially, .context = NULL};
    struct clr_groups *groups = NULL;
    const enum clr_scan_outcome outcome =
        threads > 0 ? clr_group_scan(&made->scan, &team, NULL, NULL, &groups)
                    : clr_host_group(&made->scan, NULL, NULL, &groups);

    batch_ok(outcome == compare(made, groups, what), "%s, outcome %d", what, (int)outcome);
    batch_ok((groups != NULL) == (outcome == CLR_SCAN_DONE), "%s, groups only if done", what);
    clr_groups_free(groups);
}

/* A scan of one key and one tally of these families. */
static void make_plain(struct made *made, size_t rows, enum family key, enum family value,
                       unsigned operations)
{
    make_scan(made, rows);
    clr_column_release(made->columns[0]);
    clr_column_release(made->columns[KEY_COLUMNS]);
    made->columns[0] = make_column(rows, key);
    made->columns[KEY_COLUMNS] = make_column(rows, value);
    made->scan.filter = -1;
    made->scan.tally_count = 1;
    made->scan.question_count = 0;
    made->tallies[0] = (struct clr_tally){.operations = operations,
                                          .x = KEY_COLUMNS,
                                          .y = operations == 1u << CLR_DOT ? KEY_COLUMNS : -1,
                                          .filter = -1};
    if (operations & CLR_KEEP)
        make_question(made, 0);
    made->grouping.key_count = 1;
    made->grouping.keys[0] = 0;
}

#endif
