#include "sqlite/cache/sorted_copies.h"

#include "engine/host/sorted_answers.h"
#include "sqlite/cache/cache_lock.h"
#include "sqlite/cache/cache_memory.h"
#include "sqlite/cache/cache_tables.h"
#include "sqlite/cache/cache_thread.h"

#include <stdatomic.h>

/* Scans that ask for the order of a column before it gets a sorted copy, and others, at least,
   after it could not have one. Sorting takes about as long as ten of them. */
enum { ASKINGS = 2, LEAST_PAUSE = 64 };

/* What is being sorted. */
struct sorting {
    struct clr_column *column; /* with a reference */
    atomic_bool stop;          /* its memory is needed */
};

static bool wants_stop(void *context)
{
    const struct sorting *sorting = context;

    /* Nobody else has that content any more. */
    return atomic_load(&sorting->stop) || atomic_load(&sorting->column->references) == 1;
}

/* Returns the next column of an image that is not being changed, from that one on. */
static struct clr_image_column *next_column(struct clr_cached_table **table,
                                            struct clr_image **image,
                                            struct clr_image_column *column)
{
    while (column == NULL && *table != NULL) {
        *image = *image == NULL ? (*table)->images : (*image)->next;
        if (*image == NULL)
            *table = (*table)->next;
        else if (!(*image)->is_changing)
            column = (*image)->columns;
    }
    return column;
}

static struct clr_image_column *find_wanted(void)
{
    struct clr_cached_table *table = clr_cache_first();
    struct clr_image *image = NULL;
    struct clr_image_column *column = next_column(&table, &image, NULL);

    while (column != NULL && (column->sorted != NULL || column->order_asks < ASKINGS))
        column = next_column(&table, &image, column->next);
    return column;
}

/* Gives a copy to all columns that have the content it was made of. Without one they wait before
   they are to have one. */
static void spread(const struct clr_column *content, struct clr_sorted_copy *copy)
{
    struct clr_cached_table *table = clr_cache_first();
    struct clr_image *image = NULL;
    struct clr_image_column *column = next_column(&table, &image, NULL);

    for (; column != NULL; column = next_column(&table, &image, column->next)) {
        if (column->column != content || column->sorted != NULL)
            continue;
        column->sorted = clr_sorted_copy_retain(copy);
        column->order_asks = 0;
        if (copy == NULL)
            clr_backoff_failed(&column->sorting, LEAST_PAUSE);
        clr_image_measure_column(image, column);
    }
}

/* Makes the sorted copy of a column that is to have one. Returns when it is to be called again: at
   once, or never. */
static int64_t make_wanted(void)
{
    struct clr_image_column *wanted = find_wanted();
    struct sorting sorting = {.column = NULL};
    const struct clr_watch watch = {wants_stop, &sorting};
    struct clr_sorted_copy *copy = NULL;
    int64_t cost;

    if (wanted == NULL)
        return INT64_MAX;
    atomic_init(&sorting.stop, false);
    sorting.column = clr_column_retain(wanted->column);
    cost = (int64_t)clr_host_sort_cost(sorting.column);
    if (cost > 0 && clr_column_memory_reserve(cost, &sorting.stop)) {
        clr_cache_unlock();
        clr_host_sort(sorting.column, &watch, &copy);
        clr_cache_lock();
        clr_column_memory_unreserve();
        if (atomic_load(&sorting.stop)) {
            clr_sorted_copy_release(copy);
            copy = NULL;
        }
    }
    spread(sorting.column, copy);
    clr_cache_unlock();
    clr_sorted_copy_release(copy);
    clr_column_release(sorting.column);
    clr_cache_lock();
    return 0;
}

bool clr_sorted_copies_take(struct clr_image_column *const *found, const struct clr_scan *scan,
                            struct clr_sorted_copy *copies[CLR_MOST_COLUMNS])
{
    bool is_asked[CLR_MOST_COLUMNS] = {false}, has_one = false, is_due = false;
    int i, number;

    for (i = 0; i < scan->question_count; i++) {
        number = clr_question_column(scan, &scan->questions[i]);
        if (number >= 0)
            is_asked[number] = true;
    }
    clr_cache_lock();
    for (i = 0; i < scan->column_count; i++) {
        copies[i] = is_asked[i] ? clr_sorted_copy_retain(found[i]->sorted) : NULL;
        has_one = has_one || copies[i] != NULL;
        if (is_asked[i] && copies[i] == NULL && !clr_backoff_skips(&found[i]->sorting))
            is_due = ++found[i]->order_asks >= ASKINGS || is_due;
    }
    if (is_due)
        clr_cache_thread_want(make_wanted);
    clr_cache_unlock();
    return has_one;
}
