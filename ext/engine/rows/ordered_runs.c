#include "engine/rows/ordered_runs.h"

#include "base/memory.h"
#include "numeric/order/radix_sort.h"

/* Numbers that are inserted before the watch is asked. */
enum { PORTION = 32768 };

/* Inserts numbers of one kind, few enough to be sorted first: then most go to where the last one
   went. keys has room for twice as many. */
static enum clr_code insert_portion(struct clr_ordered *ordered, enum clr_kind kind,
                                    const void *numbers, size_t count, uint64_t *keys)
{
    const int64_t *integers = numbers;
    const double *reals = numbers;
    enum clr_code code = CLR_OK;
    size_t i;

    for (i = 0; i < count; i++)
        keys[i] = kind == CLR_KIND_INTEGER ? clr_integer_to_key(integers[i])
                                           : clr_double_to_key(reals[i]);
    clr_radix_sort(keys, keys + count, count);
    for (i = 0; i < count && code == CLR_OK; i++)
        code = clr_ordered_insert(ordered, kind == CLR_KIND_INTEGER
                                               ? clr_integer_to_place(clr_key_to_integer(keys[i]))
                                               : (clr_u128)keys[i] << 64);
    return code;
}

enum clr_code clr_ordered_runs_insert(struct clr_ordered *ordered, const struct clr_run *run,
                                      const struct clr_watch *watch)
{
    uint64_t *keys = clr_memory_alloc(2 * PORTION * sizeof *keys);
    enum clr_code code = keys != NULL ? CLR_OK : CLR_NOMEM;
    size_t from, count;

    for (; run != NULL && code == CLR_OK; run = run->next) {
        for (from = 0; from < run->count && code == CLR_OK; from += count) {
            count = run->count - from < PORTION ? run->count - from : PORTION;
            code = insert_portion(ordered, run->kind,
                                  (const char *)run->values + from * sizeof(int64_t), count, keys);
            if (code == CLR_OK && count == PORTION && watch->wants_stop(watch->context))
                code = CLR_STOPPED;
        }
    }
    clr_memory_free(keys);
    return code;
}
