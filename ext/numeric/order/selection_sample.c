#include "numeric/order/selection_sample.h"

/* A sample places a rank with a standard deviation of 45 of its keys at the most; 4 of those. */
enum { MARGIN = 181 };

/* Takes keys at equal distances, as far as there are so many, from all runs; sorts them, with
   scratch behind them. Returns how many there are. */
static size_t take_sample(const struct clr_selection *selection, uint64_t total, uint64_t *keys)
{
    const struct clr_run *runs = selection->portions->starts[0];
    uint64_t step = total / CLR_SAMPLE, start = 0, next = 0;
    size_t count = 0;

    for (; runs != NULL; start += runs->count, runs = runs->next) {
        for (; next < start + runs->count && count < CLR_SAMPLE; next += step)
            clr_selection_copy_keys(runs, next - start, 1, selection->order, &keys[count++]);
    }
    clr_radix_sort(keys, keys + CLR_SAMPLE, count);
    return count;
}

/* Sets the range of keys in which the sample says that the rank is. */
static void place_window(struct clr_window *window, const struct clr_key_range *range,
                         uint64_t total, const uint64_t *sample, size_t samples)
{
    size_t place = (size_t)((double)range->rank / (double)total * (double)samples);

    window->low = place < MARGIN ? 0 : sample[place - MARGIN];
    window->high = place + MARGIN + 1 >= samples ? UINT64_MAX : sample[place + MARGIN + 1];
}

enum clr_code clr_selection_gather_sampled(struct clr_selection *selection,
                                           const struct clr_key_range *ranges,
                                           struct clr_window *windows, int count, uint64_t total)
{
    uint64_t *sample = windows[0].keys;
    size_t samples = take_sample(selection, total, sample);
    int i;

    for (i = 0; i < count; i++)
        place_window(&windows[i], &ranges[i], total, sample, samples);
    return clr_selection_gather(selection, windows, count);
}

bool clr_window_has_rank(const struct clr_window *window, const struct clr_key_range *range)
{
    const size_t gathered = atomic_load(&window->gathered);

    return gathered <= window->room && range->rank >= window->below &&
           range->rank - window->below + range->has_next < gathered;
}
