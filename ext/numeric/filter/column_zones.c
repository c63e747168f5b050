#include "numeric/filter/column_zones.h"

#include "numeric/filter/filter.h"
#include "numeric/filter/row_set.h"
#include "numeric/scan/block_run.h"
#include "numeric/scan/host_reduce.h"

_Static_assert((int)CLR_ZONE_ROWS == (int)CLR_BLOCK, "a zone is one of a scan's blocks");

static void find_codes(const struct clr_column *column, size_t first, size_t count,
                       struct clr_zone *zone)
{
    uint32_t least = UINT32_MAX, greatest = 0;
    size_t i;

    for (i = first; i < first + count; i++) {
        const uint32_t code = clr_column_code(column, i);
        least = code < least ? code : least;
        greatest = code > greatest ? code : greatest;
    }
    *zone = (struct clr_zone){.least = least, .greatest = greatest};
}

/* Finds the extremes of values of one type. */
static void find_extremes(const int64_t *values, size_t count, enum clr_tag tag,
                          struct clr_zone *zone)
{
    const bool real = tag == CLR_TAG_REAL;
    struct clr_state state;
    const struct clr_range *range = real ? &state.reals : &state.integers;

    clr_state_clear(&state);
    clr_host_reduce_arrays(CLR_EXTREMES, real ? CLR_REAL : CLR_INTEGER, values, NULL, count,
                           &state);
    zone->least = real ? clr_real_to_key(range->least) : range->least;
    zone->greatest = real ? clr_real_to_key(range->greatest) : range->greatest;
}

/* Finds what a register has, the only one of its block. */
static void find_values(const struct clr_block *block, const struct clr_register *values,
                        struct clr_zone *zone)
{
    const unsigned numbers = values->types & (CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_REAL));
    const enum clr_tag tag = numbers & CLR_TYPE(CLR_TAG_REAL) ? CLR_TAG_REAL : CLR_TAG_INTEGER;
    uint64_t all[CLR_BLOCK_WORDS], rows[CLR_BLOCK_WORDS];
    int64_t gathered[CLR_BLOCK];

    *zone = (struct clr_zone){.types = (uint8_t)values->types};
    if (numbers != CLR_TYPE(tag))
        return;
    if (values->types == numbers) {
        find_extremes(values->values, block->count, tag, zone);
        return;
    }
    clr_filter_select_all(block, all);
    clr_row_set_find(block->loops, values, tag, all, rows);
    find_extremes(gathered, block->loops->gather(values->values, rows, gathered, values->values),
                  tag, zone);
}

static bool find_zones_of_values(struct clr_column *column, size_t first, size_t count,
                                 struct clr_zone *zones)
{
    const struct clr_instruction load = {.opcode = CLR_OP_COLUMN};
    struct clr_tally tally = {.x = 0, .y = -1, .filter = -1};
    const struct clr_scan scan = {.instruction_count = 1,
                                  .column_count = 1,
                                  .tally_count = 1,
                                  .filter = -1,
                                  .instructions = &load,
                                  .columns = &column,
                                  .rows = column->rows,
                                  .tallies = &tally};
    struct clr_block *block = clr_block_new(&scan);
    size_t i;

    if (block == NULL)
        return false;
    for (i = 0; i < count; i++) {
        const size_t start = (first + i) * CLR_BLOCK, rest = column->rows - start;

        clr_block_set_rows(block, start, rest < CLR_BLOCK ? rest : CLR_BLOCK);
        clr_block_run(block, CLR_STAGE_TALLIES);
        find_values(block, &block->registers[0], &zones[i]);
    }
    clr_block_free(block);
    return true;
}

bool clr_column_find_zones(struct clr_column *column, size_t first, size_t count,
                           struct clr_zones *zones)
{
    size_t i;

    if (column->codes == NULL)
        return find_zones_of_values(column, first, count, zones->zones + first);
    for (i = first; i < first + count; i++) {
        const size_t start = i * CLR_BLOCK, rest = column->rows - start;

        find_codes(column, start, rest < CLR_BLOCK ? rest : CLR_BLOCK, &zones->zones[i]);
    }
    return true;
}

static bool is_below(int64_t a, int64_t b, bool real)
{
    return real ? clr_real_to_key(a) < clr_real_to_key(b) : a < b;
}

/* Adds a zone to a coarse one, which has none yet if it is the first. Where numbers are of two
   types the extremes do not matter; of a zone without numbers they are not defined. */
static void add_zone(struct clr_zone *all, const struct clr_zone *zone, bool is_first)
{
    const unsigned numbers = CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_REAL);
    const bool real = (zone->types & CLR_TYPE(CLR_TAG_REAL)) != 0;
    const bool has_any = !is_first && (all->types == 0 || (all->types & numbers) != 0);

    all->types = (uint8_t)(zone->types | (is_first ? 0 : all->types));
    if (zone->types != 0 && (zone->types & numbers) == 0)
        return;
    if (!has_any || is_below(zone->least, all->least, real))
        all->least = zone->least;
    if (!has_any || is_below(all->greatest, zone->greatest, real))
        all->greatest = zone->greatest;
}

void clr_zones_complete(struct clr_zones *zones)
{
    struct clr_zone *coarse = zones->zones + zones->count;
    size_t i;

    zones->types = 0;
    for (i = 0; i < zones->count; i++) {
        zones->types |= zones->zones[i].types;
        add_zone(&coarse[i / CLR_COARSE_ZONES], &zones->zones[i], i % CLR_COARSE_ZONES == 0);
    }
}
