/*
 * Brings columns of a table from one snapshot to a later one, where it is known which pages of the
 * database have changed: reads the leaves that are new or changed, and keeps the rows of the
 * others. Of the interior pages it reads those right above leaves that have changed; or all, if one
 * farther above has, or there are none so high.
 */
#ifndef CLR_STORAGE_REFRESH_H
#define CLR_STORAGE_REFRESH_H

#include "numeric/scan/scan.h"
#include "storage/load/load.h"

struct clr_refresh_report {
    int64_t bytes_read;
    size_t leaves_read, leaves; /* the latter of the table now */
    bool has_moved;             /* the layout is another one, and so may columns be */
    /* If it has: whether all rows of unchanged leaves are still where they were. Then these are
       rows of the new columns, without which they are as the old ones. */
    bool rows_stay;
    struct clr_row_ranges fresh;
    /* Where some columns are evaluated: the leaves whose rows have undefined values there, or may
       have other ones than before; to be freed with clr_page_set_free(). */
    struct clr_page_set *unvalued;
};

/* Returns how many leaves of so many may have changed: more are better loaded by several threads.
 */
static inline size_t clr_refresh_most_leaves(size_t leaf_count)
{
    enum { ALWAYS = 64, PART = 8 };

    return leaf_count / PART < ALWAYS ? ALWAYS : leaf_count / PART;
}

/*
 * Refreshes the count columns of a layout that has leaves, which is all that were loaded with that
 * layout; fields is what they were loaded with. Those that SQLite evaluates come last: their rows
 * go where the others go, and report->unvalued tells which are to be evaluated again. changes is
 * the set of pages that have changed (see clr_wal_changes()); root is the same.
 *
 * CLR_LOAD_DONE: columns and layout are those of the new snapshot. A column that had but one
 * reference may have been changed in place, another is replaced: its reference is dropped. If the
 * leaves are all the same ones, nothing is; if report->has_moved, changed says of each column if
 * its content is another one. CLR_LOAD_STOPPED: as watch asked, and all is
 * as it was. So it is for any other outcome, and the table has to be loaded anew: too many of its
 * leaves have changed, or it has too many rows; or there is something wrong with it, which the load
 * will find.
 */
enum clr_load_outcome clr_refresh(const struct clr_source *source, uint32_t root,
                                  const struct clr_page_set *changes,
                                  const struct clr_field *fields, int count,
                                  struct clr_layout *layout, struct clr_column **columns,
                                  bool *changed, const struct clr_watch *watch,
                                  struct clr_refresh_report *report);

/*
 * Gives columns of a layout, which are evaluated, values of the rows of the leaves at some places,
 * ascending: those that fresh has, one after the other. Values there have eight bytes. Outcomes are
 * those above, as is what the report says of rows.
 */
enum clr_load_outcome clr_refresh_values(const struct clr_layout *layout, const size_t *places,
                                         size_t place_count, struct clr_column **fresh, int count,
                                         struct clr_column **columns, bool *changed,
                                         struct clr_refresh_report *report);

#endif
