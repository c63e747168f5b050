#include "numeric/grouping/plan.h"

#include "base/memory.h"
#include "numeric/exact/sum.h"
#include "numeric/scan/scan.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- A sample of the rows that pass a scan's filter, of which its groups are planned. */

/* The values of an instruction. */
struct sampled {
    unsigned types;
    int64_t least, greatest;   /* of INTEGERs, if there are any */
    int real_top, real_bottom; /* REALs other than zero are below 2^top and multiples of 2^bottom;
                                  top < bottom: there are none */
};

/* What is found out: instruction by instruction. */
struct sample {
    uint64_t rows; /* about how many of the scan's rows pass */
    struct sampled values[CLR_MOST_INSTRUCTIONS];
};

/* Whether the ends of a lookup's results are found by looking at them all. */
static bool has_known_ends(const struct clr_lookup *lookup)
{
    enum { MOST_ENTRIES = 1 << 20 };

    return lookup->ranked != NULL || lookup->count <= MOST_ENTRIES;
}

/* Blocks that are looked at, as far from each other as can be. */
enum { BLOCKS = 32 };

static void take_integers(struct sampled *sampled, const int64_t *values, size_t count)
{
    int64_t least = sampled->least, greatest = sampled->greatest;
    size_t i;

    for (i = 0; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        greatest = values[i] > greatest ? values[i] : greatest;
    }
    sampled->least = least;
    sampled->greatest = greatest;
}

static void take_reals(struct sampled *sampled, const int64_t *values, size_t count)
{
    /* Of an exponent of 11 bits and a significand of 52, whose first bit is not stored. */
    const uint64_t one = UINT64_C(1) << 52, infinity = UINT64_C(0x7ff) << 52;
    uint64_t greatest = 0;
    int end, least_end = INT_MAX;
    struct clr_parts parts;
    size_t i;

    for (i = 0; i < count; i++) {
        const uint64_t bits = (uint64_t)values[i] & INT64_MAX;

        if (bits - 1 >= infinity - 1) /* zero, infinite or no number */
            continue;
        greatest = bits > greatest ? bits : greatest;
        if ((int)(bits >> 52) < least_end) { /* which is rare soon */
            end = (int)(bits >> 52) + (bits < one) + __builtin_ctzll(bits | one);
            least_end = end < least_end ? end : least_end;
        }
    }
    if (greatest == 0)
        return;
    parts = clr_parts_of(clr_real_of((int64_t)greatest));
    end = parts.exponent + 64 - __builtin_clzll(parts.significand);
    sampled->real_top = end > sampled->real_top ? end : sampled->real_top;
    end = least_end - 1075;
    sampled->real_bottom = end < sampled->real_bottom ? end : sampled->real_bottom;
}

/* Takes the values of a block's selected rows. */
static void take_values(const struct clr_loops *loops, const struct clr_register *values,
                        const uint64_t *selected, struct sampled *sampled)
{
    const bool are_mixed = (values->types & (values->types - 1)) != 0;
    int64_t close[CLR_BLOCK];
    uint64_t bits[CLR_BLOCK_WORDS];
    size_t count, i;
    uint8_t tag;

    for (tag = 0; CLR_TYPE(tag) <= values->types; tag++) {
        if ((values->types & CLR_TYPE(tag)) == 0)
            continue;
        if (are_mixed)
            loops->select_tag(values->tags, tag, bits);
        for (i = 0; i < CLR_BLOCK_WORDS; i++)
            bits[i] = are_mixed ? bits[i] & selected[i] : selected[i];
        count = loops->count(bits);
        if (count == 0)
            continue;
        sampled->types |= CLR_TYPE(tag);
        if (tag != CLR_TAG_INTEGER && tag != CLR_TAG_REAL)
            continue;
        count = loops->gather(values->values, bits, close, NULL);
        if (tag == CLR_TAG_INTEGER)
            take_integers(sampled, close, count);
        else
            take_reals(sampled, close, count);
    }
}

/* Where no row of the block passes the filter, or that is not sure, any are as good a guess: one in
   eight. Returns how many do pass. */
static size_t take_block(struct clr_block *block, const bool *wanted, struct sample *sample)
{
    uint64_t selected[CLR_BLOCK_WORDS];
    const size_t passed = clr_filter_select(block, selected) ? block->loops->count(selected) : 0;
    size_t i;
    int number;

    if (passed == 0) {
        clr_filter_select_all(block, selected);
        for (i = 0; i < CLR_BLOCK_WORDS; i++)
            selected[i] &= UINT64_C(0x0101010101010101);
    }
    clr_block_run(block, CLR_STAGE_TALLIES);
    for (number = 0; number < block->scan->instruction_count; number++) {
        if (wanted[number])
            take_values(block->loops, &block->registers[number], selected, &sample->values[number]);
    }
    return passed;
}

/* Takes the bounds of a narrow column's numbers, of so many rows. Returns false if it is none, or
   no window is wide enough for what REALs may be: the sample may have less. */
static bool take_frame(const struct clr_column *column, size_t rows, struct sampled *sampled)
{
    const struct clr_frame *frame = &column->frame;
    const double most = fmax(fabs((double)frame->known_least), fabs((double)frame->known_greatest));
    struct clr_window window;

    if (column->words == NULL || frame->known_least > frame->known_greatest ||
        column->kind != (frame->power == 0.0 ? CLR_TAG_INTEGER : CLR_TAG_REAL))
        return false;
    sampled->types = CLR_TYPE(column->kind);
    sampled->least = frame->known_least;
    sampled->greatest = frame->known_greatest;
    if (frame->power != 0.0 && most != 0.0) {
        sampled->real_top = ilogb(most / frame->power) + 1;
        sampled->real_bottom =
            frame->power == 1.0 ? 0 : ilogb(1.0 / frame->power) - (DBL_MANT_DIG - 1);
        clr_window_lay(&window, sampled->real_top, sampled->real_bottom, rows);
        return window.low_exponent <= sampled->real_bottom;
    }
    return true;
}

/* Takes what is known without a look at rows, all of which pass if no filter is there: the types of
   keys that are lookups whose results are all of one, of which nothing else is asked (place_key()),
   and the bounds of columns, where the scan has all rows. Returns whether others are left. */
static bool take_known(const struct clr_scan *scan, size_t rows, const bool *is_argument,
                       bool *wanted, struct sample *sample)
{
    bool any = false;
    int i;

    for (i = 0; i < scan->instruction_count; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];
        struct sampled *sampled = &sample->values[i], known = *sampled;

        if (wanted[i] && !is_argument[i] && instruction->opcode == CLR_OP_LOOKUP &&
            has_known_ends(&scan->lookups[instruction->b]) &&
            scan->lookups[instruction->b].kind != CLR_TAG_MIXED) {
            sampled->types = CLR_TYPE(scan->lookups[instruction->b].kind);
            wanted[i] = false;
        }
        if (wanted[i] && instruction->opcode == CLR_OP_COLUMN && scan->filter < 0 &&
            scan->rows == rows && take_frame(scan->columns[instruction->a], rows, &known)) {
            *sampled = known;
            wanted[i] = false;
        }
        any = any || wanted[i];
    }
    return any;
}

/* Looks at the instructions for which wanted is true, of a scan of some of so many rows, or all.
   Returns CLR_SCAN_DONE, or CLR_SCAN_FAILED without memory. */
static enum clr_scan_outcome sample_take(const struct clr_scan *scan, size_t rows,
                                         const bool *is_argument, bool *wanted,
                                         struct sample *sample)
{
    const size_t blocks = (scan->rows + CLR_BLOCK - 1) / CLR_BLOCK;
    const size_t looks = blocks < BLOCKS ? blocks : BLOCKS;
    struct clr_grouping grouping = {.key_count = 0};
    struct clr_scan needed = *scan;
    struct clr_block *block;
    size_t passed = 0, seen = 0, i;
    int number;

    for (number = 0; number < scan->instruction_count; number++)
        sample->values[number] = (struct sampled){0, INT64_MAX, INT64_MIN, INT_MIN, INT_MAX};
    sample->rows = scan->rows;
    if (!take_known(scan, rows, is_argument, wanted, sample) && scan->filter < 0)
        return CLR_SCAN_DONE;
    for (number = 0; number < scan->grouping->key_count; number++) {
        if (wanted[scan->grouping->keys[number]])
            grouping.keys[grouping.key_count++] = scan->grouping->keys[number];
    }
    needed.grouping = &grouping;
    block = clr_block_new(&needed);
    if (block == NULL)
        return CLR_SCAN_FAILED;
    for (i = 0; i < looks; i++) {
        const size_t number_of_block = looks == 1 ? 0 : (blocks - 1) * i / (looks - 1);
        const size_t first = number_of_block * CLR_BLOCK, rest = scan->rows - first;

        clr_block_set_rows(block, first, rest < CLR_BLOCK ? rest : CLR_BLOCK);
        passed += take_block(block, wanted, sample);
        seen += block->count;
    }
    sample->rows = seen == 0 ? 0 : scan->rows * (uint64_t)(passed + 1) / seen;
    clr_memory_free(block);
    return CLR_SCAN_DONE;
}

/* Whether a key has the same value in two rows of the scan's columns, but for its type. False if it
   is not a column or a lookup. */
static bool is_same(const struct clr_scan *scan, int key, size_t row, size_t other)
{
    const struct clr_instruction *instruction = &scan->instructions[key];
    const struct clr_column *column = scan->columns[instruction->a];
    const int64_t *values;

    if (instruction->opcode == CLR_OP_COLUMN)
        return clr_column_value(column, row) == clr_column_value(column, other);
    if (instruction->opcode != CLR_OP_LOOKUP)
        return false;
    values = scan->lookups[instruction->b].values;
    return values[clr_column_code(column, row)] == values[clr_column_code(column, other)];
}

/* Whether rows of a group mostly lie beside each other, tens of them and more, as some rows of a
   scan with groups tell: a guess. */
static bool lie_together(const struct clr_scan *scan)
{
    enum { LOOKS = 64, DISTANCE = 64 };
    const struct clr_grouping *grouping = scan->grouping;
    size_t found = 0, row, i;
    bool are_same;
    int key;

    if (scan->rows <= DISTANCE)
        return false;
    for (i = 0; i < LOOKS; i++) {
        /* Spread by the golden ratio, so that no period of the rows meets theirs. */
        row = (size_t)((i + 1) * UINT64_C(0x9e3779b97f4a7c15) % (scan->rows - DISTANCE));
        for (key = 0, are_same = true; key < grouping->key_count; key++)
            are_same = are_same && is_same(scan, grouping->keys[key], row, row + DISTANCE);
        found += are_same;
    }
    return 2 * found > LOOKS;
}

/* ---- Limits. */

/* From this span on the ends of a range are likely not to be in the sample. */
enum { WIDE = 64, MARGIN = 16, FEW_PLACES = 4096 };

/* A sum in one limb is left if what the sample has is so many times larger in the other rows. */
enum { LIMB_MARGIN = 16, LIMB_BITS = 62 };

/* What is added to a part of a word may have so many bits more than the sample's. */
enum { FIELD_MARGIN = 2 };

/* The sums of INTEGERs of which SQLite's own functions make no rounding errors. */
enum { EXACT_BITS = 53 };

struct planner {
    struct clr_group_plan *plan;
    const struct clr_scan *scan;
    size_t rows;  /* at most */
    bool has_all; /* of them */
    const struct clr_group_doubts *doubts;
    struct sample *sample;
    bool may_be_null[CLR_MOST_INSTRUCTIONS];
    int extremes; /* words of them */
    enum clr_group_runner runner;
    /* The word that is being filled: its number, how many of its bits are taken, and who has what
       is left: a tally, or NULL: the count of rows. */
    int open, taken;
    struct clr_group_tally *last;
};

/* ---- Types. */

/* Whether an instruction may be NULL as its columns are: what is NULL as others are not, like a
   quotient by zero, a sample finds, or it is rare. */
static void find_nulls(struct planner *planner)
{
    const struct clr_scan *scan = planner->scan;
    bool *null = planner->may_be_null;
    int operands[3], count, i;

    for (i = 0; i < scan->instruction_count; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];

        null[i] = false;
        if (instruction->opcode == CLR_OP_COLUMN)
            null[i] = !planner->has_all || scan->columns[instruction->a]->kind == CLR_TAG_MIXED;
        else if (instruction->opcode == CLR_OP_LOOKUP)
            null[i] = scan->lookups[instruction->b].kind == CLR_TAG_MIXED;
        else
            for (count = clr_instruction_operands(instruction, operands); count > 0; count--)
                null[i] = null[i] || null[operands[count - 1]];
    }
}

static unsigned expect_types(const struct planner *planner, int tally, int argument)
{
    if (planner->doubts->tallies[tally] & CLR_DOUBT_TYPES)
        return CLR_ALL_TYPES;
    return planner->sample->values[argument].types |
           (planner->may_be_null[argument] ? CLR_TYPE(CLR_TAG_NULL) : 0);
}

/* ---- Keys. */

static void widen(int64_t *least, int64_t *greatest)
{
    const uint64_t span = (uint64_t)*greatest - (uint64_t)*least;
    const int64_t margin = span < WIDE ? 0 : (int64_t)(span / MARGIN + 1);

    *least = *least < INT64_MIN + margin ? INT64_MIN : *least - margin;
    *greatest = *greatest > INT64_MAX - margin ? INT64_MAX : *greatest + margin;
}

/* Widens a range of some of a lookup's results to that of all that are INTEGERs. It looks at each,
   unless they are ranks. */
static void widen_to_lookup(const struct clr_lookup *lookup, int64_t *least, int64_t *greatest)
{
    uint32_t i;

    if (lookup->ranked != NULL) {
        *least = 0;
        *greatest = lookup->ranked_count == 0 ? 0 : (int64_t)lookup->ranked_count - 1;
        return;
    }
    for (i = 0; i < lookup->count; i++) {
        if (clr_lookup_tag(lookup, i) != CLR_TAG_INTEGER)
            continue;
        *least = lookup->values[i] < *least ? lookup->values[i] : *least;
        *greatest = lookup->values[i] > *greatest ? lookup->values[i] : *greatest;
    }
}

/* Finds the places of a key. Returns false if they are too many, or the key is not of that sort. */
static bool place_key(const struct planner *planner, int number, struct clr_group_key *key)
{
    const int register_number = planner->scan->grouping->keys[number];
    const struct clr_instruction *instruction = &planner->scan->instructions[register_number];
    const struct sampled *sampled = &planner->sample->values[register_number];
    const struct clr_lookup *lookup =
        instruction->opcode == CLR_OP_LOOKUP ? &planner->scan->lookups[instruction->b] : NULL;
    int64_t least = sampled->least, greatest = sampled->greatest;

    if (sampled->types & ~(CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_NULL)))
        return false;
    if (lookup != NULL && has_known_ends(lookup))
        widen_to_lookup(lookup, &least, &greatest);
    else if (least <= greatest)
        widen(&least, &greatest);
    if (least > greatest)
        least = greatest = 0;
    key->first = least;
    key->size = (uint64_t)greatest - (uint64_t)least;
    if (key->size >= INT64_MAX - 2)
        return false;
    key->size += 2;
    return true;
}

/* Whether the scan's filter, or a tally, needs an instruction. */
static bool uses(const struct clr_scan *scan, int number)
{
    const struct clr_tally none = {.x = -1, .y = -1, .filter = -1};
    bool used[CLR_MOST_INSTRUCTIONS];
    int i;

    clr_scan_find_used(scan, &none, used);
    for (i = 0; i < scan->tally_count && !used[number]; i++)
        clr_scan_find_used(scan, &scan->tallies[i], used);
    return used[number];
}

/* Whether all results are ranks or NULL. Stores whether no two of them are the same. seen has a
   zero for each rank, and one for NULL. */
static bool are_ranks(const struct clr_lookup *lookup, uint8_t *seen, bool *are_different)
{
    uint32_t code;

    *are_different = true;
    for (code = 0; code < lookup->count; code++) {
        const uint8_t tag = clr_lookup_tag(lookup, code);
        const size_t rank =
            tag == CLR_TAG_NULL ? lookup->ranked_count : (size_t)lookup->values[code];

        if (tag != CLR_TAG_NULL && tag != CLR_TAG_INTEGER)
            return false;
        *are_different = *are_different && !seen[rank];
        seen[rank] = true;
    }
    return true;
}

/* Whether the rows of a block have few codes beside each other, as the hours of a table in the
   order of time, by the zones of some blocks. */
static bool are_close(const struct clr_column *column)
{
    enum { LOOKS = 64, FEW_CODES = 64 };
    const struct clr_zones *zones = clr_column_zones(column);
    const size_t looks = zones == NULL ? 0 : zones->count < LOOKS ? zones->count : LOOKS;
    size_t close = 0, i;

    for (i = 0; i < looks; i++) {
        const struct clr_zone *zone = &zones->zones[zones->count * i / looks];

        close += zone->greatest - zone->least < FEW_CODES;
    }
    return close > looks / 2;
}

/*
 * Whether the scan's only key is a lookup whose results are ranks, or NULL. Nothing else may use
 * it. They are all different, or else the codes that a block has are close, so that their records
 * are, and become one in the end. Without memory to find that out it is said not to be.
 */
static bool codes_will_do(const struct clr_scan *scan)
{
    const int key = scan->grouping->keys[0];
    const struct clr_lookup *lookup;
    bool will, are_different;
    uint8_t *seen;

    if (scan->grouping->key_count != 1 || scan->instructions[key].opcode != CLR_OP_LOOKUP ||
        uses(scan, key))
        return false;
    lookup = clr_group_codes_lookup(scan);
    if (lookup->ranked == NULL || lookup->count == 0 || lookup->ranked_count > lookup->count)
        return false;
    seen = clr_memory_alloc_zero(lookup->ranked_count + 1);
    will = seen != NULL && are_ranks(lookup, seen, &are_different) &&
           (are_different || are_close(scan->columns[scan->instructions[key].a]));
    clr_memory_free(seen);
    return will;
}

static void plan_keys(const struct planner *planner)
{
    const struct clr_scan *scan = planner->scan;
    struct clr_group_plan *plan = planner->plan;
    /* How many of all are expected to pass the filter. */
    const uint64_t rows =
        scan->rows == 0 ? 0
                        : (uint64_t)((clr_u128)planner->sample->rows * planner->rows / scan->rows);
    clr_u128 places = 1;
    int i;

    plan->numbering = CLR_NUMBERED_BY_KEYS;
    plan->by_codes = false;
    plan->places = 0;
    if (planner->doubts->keys)
        return;
    for (i = scan->grouping->key_count - 1; i >= 0; i--) {
        if (!place_key(planner, i, &plan->keys[i]))
            return;
        plan->keys[i].factor = (uint64_t)places;
        places *= plan->keys[i].size;
        if (places > INT64_MAX)
            return;
    }
    plan->places = (uint64_t)places;
    plan->numbering = places <= 2 * rows + FEW_PLACES && places < UINT32_MAX &&
                              places * plan->stride * sizeof(int64_t) <= scan->values_memory / 4
                          ? CLR_NUMBERED_DIRECTLY
                          : CLR_NUMBERED_BY_PLACE;
    if (planner->runner == CLR_GROUPS_OF_COLUMNS && plan->numbering == CLR_NUMBERED_DIRECTLY &&
        codes_will_do(scan) &&
        clr_group_codes_lookup(scan)->count * plan->stride * sizeof(int64_t) <=
            scan->values_memory / 4) {
        plan->by_codes = true;
        plan->places = clr_group_codes_lookup(scan)->count;
    }
}

/* ---- Tallies. */

/* The greatest size of the INTEGERs that the sample has, as a power of two. */
static int size_bits(const struct sampled *sampled)
{
    const uint64_t least = sampled->least < 0 ? -(uint64_t)sampled->least : 0;
    const uint64_t greatest = sampled->greatest > 0 ? (uint64_t)sampled->greatest : 0;
    const uint64_t size = least > greatest ? least : greatest;

    return sampled->least > sampled->greatest || size == 0 ? 0 : 64 - __builtin_clzll(size);
}

static int row_bits(const struct planner *planner)
{
    return 64 - __builtin_clzll((uint64_t)planner->rows | 1);
}

/* Gives a sum a part of a word, and the limit that follows. */
static void set_field(const struct planner *planner, int shift, int bits,
                      struct clr_group_tally *kept)
{
    const int most = kept->is_bounded ? EXACT_BITS : LIMB_BITS;
    const int room = (bits - 1 < most ? bits - 1 : most) - row_bits(planner);

    kept->field = (struct clr_group_field){shift, bits};
    kept->integer_limit = (int64_t)1 << room;
}

/* Gives a sum that needs so many bits what is left of the open word, or of a new one. */
static void pack_sum(struct planner *planner, int needed, struct clr_group_tally *kept)
{
    if (planner->taken + needed > CLR_WORD_BITS) {
        planner->open = planner->plan->adds++;
        planner->taken = 0;
    } else if (planner->last != NULL) {
        set_field(planner, planner->last->field.shift, planner->taken - planner->last->field.shift,
                  planner->last);
    } else {
        planner->plan->count.bits = planner->taken;
    }
    kept->integer = planner->open;
    set_field(planner, planner->taken, CLR_WORD_BITS - planner->taken, kept);
    planner->taken += needed;
    planner->last = kept;
}

static void plan_integer_sum(struct planner *planner, int number, int bits,
                             struct clr_group_tally *kept)
{
    const int room = (kept->is_bounded ? EXACT_BITS : LIMB_BITS) - row_bits(planner);

    kept->integer_limit = 0;
    if (bits + __builtin_ctz(LIMB_MARGIN) > room) {
        kept->integer = planner->plan->adds++;
        kept->integer_high = planner->plan->adds++;
    } else if (planner->runner != CLR_GROUPS_ON_DEVICE &&
               !(planner->doubts->tallies[number] & CLR_DOUBT_FIELD)) {
        pack_sum(planner, bits + FIELD_MARGIN + row_bits(planner) + 1, kept);
    } else {
        kept->integer = planner->plan->adds++;
        set_field(planner, 0, CLR_WORD_BITS, kept);
    }
}

/* Whether the INTEGERs of a sum are so small that their limit says all that is asked of them. */
static bool is_bounded(const struct planner *planner, int number,
                       const struct clr_group_tally *kept)
{
    const struct clr_tally *tally = &planner->scan->tallies[number];

    return (tally->operations & CLR_BOUNDS) != 0 && !clr_tally_does(tally, CLR_EXTREMES) &&
           (kept->x_types & ~CLR_TYPE(CLR_TAG_NULL)) == CLR_TYPE(CLR_TAG_INTEGER) &&
           !(planner->doubts->tallies[number] & (CLR_DOUBT_BOUNDS | CLR_DOUBT_WINDOW)) &&
           size_bits(&planner->sample->values[tally->x]) + __builtin_ctz(LIMB_MARGIN) <=
               EXACT_BITS - row_bits(planner);
}

static void plan_sum(struct planner *planner, int number, struct clr_group_tally *kept)
{
    const struct clr_tally *tally = &planner->scan->tallies[number];
    const struct sampled *x = &planner->sample->values[tally->x];
    const bool spilled = (planner->doubts->tallies[number] & CLR_DOUBT_WINDOW) != 0;

    if (clr_tally_does(tally, CLR_DOT)) {
        const struct sampled *y = &planner->sample->values[tally->y];
        const int bits = size_bits(x) + size_bits(y);
        const unsigned types = kept->x_types | kept->y_types;

        if (!spilled && (types & CLR_TYPE(CLR_TAG_REAL)) == 0 &&
            bits + row_bits(planner) + __builtin_ctz(LIMB_MARGIN) <= LIMB_BITS)
            plan_integer_sum(planner, number, bits, kept);
        else
            kept->gathers = kept->gathers_sum = true;
    } else if (clr_tally_does(tally, CLR_SUM)) {
        if (spilled) {
            kept->gathers = kept->gathers_sum = true;
            return;
        }
        if (kept->x_types & CLR_TYPE(CLR_TAG_INTEGER))
            plan_integer_sum(planner, number, size_bits(x), kept);
        if (kept->x_types & CLR_TYPE(CLR_TAG_REAL)) {
            clr_window_lay(&kept->window, x->real_top, x->real_bottom, planner->rows);
            kept->real_high = planner->plan->adds++;
            kept->real_low = planner->plan->adds++;
        }
    }
}

/* Extremes come after all words that are added: they are counted for now. Bounds are both. */
static void plan_extremes(struct planner *planner, struct clr_group_tally *kept)
{
    const unsigned ends =
        planner->runner != CLR_GROUPS_ON_DEVICE && !(kept->operations & CLR_BOUNDS)
            ? CLR_LEAST | CLR_GREATEST
            : 0;
    int i;

    for (i = 0; i < 4; i++)
        if (kept->x_types & CLR_TYPE(i < 2 ? CLR_TAG_INTEGER : CLR_TAG_REAL) &&
            (kept->operations & ends) != (i % 2 == 0 ? CLR_GREATEST : CLR_LEAST))
            kept->extremes[i] = planner->extremes++;
}

/* Whether the condition asks whether a column without NULLs is NULL. */
static bool is_always_true(const struct planner *planner, int condition)
{
    const struct clr_scan *scan = planner->scan;
    const struct clr_instruction *instruction = &scan->instructions[condition];

    if (!planner->has_all || instruction->opcode != CLR_OP_NOT_NULL)
        return false;
    instruction = &scan->instructions[instruction->a];
    return instruction->opcode == CLR_OP_COLUMN &&
           scan->columns[instruction->a]->kind != CLR_TAG_MIXED &&
           scan->columns[instruction->a]->kind != CLR_TAG_NULL;
}

static void plan_tally(struct planner *planner, int number)
{
    const struct clr_tally *tally = &planner->scan->tallies[number];
    struct clr_group_tally *kept = &planner->plan->tallies[number];
    unsigned types;

    kept->operations = tally->operations;
    kept->has_x = tally->x >= 0;
    kept->pairs = tally->y >= 0 && tally->y != tally->x;
    kept->missing = kept->others = kept->integer = kept->integer_high = -1;
    kept->real_high = kept->real_low = -1;
    memset(kept->extremes, -1, sizeof kept->extremes);
    kept->gathers = (tally->operations & CLR_KEEP) != 0;
    kept->gathers_sum = false;
    kept->x_types =
        tally->x < 0 ? CLR_TYPE(CLR_TAG_INTEGER) : expect_types(planner, number, tally->x);
    kept->y_types = tally->y < 0 ? kept->x_types : expect_types(planner, number, tally->y);
    types = kept->x_types | kept->y_types;
    kept->filter =
        tally->filter >= 0 && is_always_true(planner, tally->filter) ? -1 : tally->filter;
    if (kept->filter >= 0 || (types & CLR_TYPE(CLR_TAG_NULL)) != 0)
        kept->missing = planner->plan->adds++;
    if ((types & CLR_TYPE(CLR_TAG_INTEGER)) != 0 &&
        (types & (CLR_TYPE(CLR_TAG_REAL) | CLR_TYPE(CLR_TAG_BYTES))) != 0)
        kept->others = planner->plan->adds++;
    kept->is_bounded = is_bounded(planner, number, kept);
    plan_sum(planner, number, kept);
    if (clr_tally_does(tally, CLR_EXTREMES) ||
        ((tally->operations & CLR_BOUNDS) != 0 && !kept->is_bounded))
        plan_extremes(planner, kept);
}

/* A median and a variance of one argument are of the same values: one list will do. */
static int find_gatherer(const struct planner *planner, int number)
{
    const struct clr_tally *tallies = planner->scan->tallies;
    const struct clr_group_tally *kept = planner->plan->tallies;
    int i;

    for (i = 0; i < number; i++)
        if (kept[i].gathers && !kept[i].pairs && !kept[number].pairs &&
            tallies[i].x == tallies[number].x && tallies[i].filter == tallies[number].filter)
            return kept[i].gathered_by;
    return number;
}

static void plan_tallies(struct planner *planner)
{
    struct clr_group_plan *plan = planner->plan;
    int i, j;

    plan->adds = 1;
    plan->count = (struct clr_group_field){0, CLR_WORD_BITS};
    planner->taken = row_bits(planner) + 1;
    for (i = 0; i < planner->scan->tally_count; i++) {
        plan_tally(planner, i);
        plan->tallies[i].gathered_by = find_gatherer(planner, i);
    }
    for (i = 0; i < planner->scan->tally_count; i++)
        for (j = 0; j < 4; j++)
            if (plan->tallies[i].extremes[j] >= 0)
                plan->tallies[i].extremes[j] += plan->adds;
    plan->words = plan->adds + planner->extremes;
    plan->stride = clr_group_plan_stride(plan, planner->runner);
}

size_t clr_group_plan_stride(const struct clr_group_plan *plan, enum clr_group_runner runner)
{
    enum { CACHE_LINE = 8 };
    size_t stride = (size_t)plan->words;

    if (runner == CLR_GROUPS_ON_DEVICE)
        return stride + plan->grouping.by_first;
    while (stride <= CACHE_LINE && (stride & (stride - 1)) != 0)
        stride++;
    return stride;
}

enum clr_scan_outcome clr_group_plan_make(struct clr_group_plan *plan, const struct clr_scan *scan,
                                          size_t rows, enum clr_group_runner runner,
                                          const struct clr_group_doubts *doubts)
{
    struct planner *planner = clr_memory_alloc_zero(sizeof *planner);
    struct sample *sample = clr_memory_alloc(sizeof *sample);
    enum clr_scan_outcome outcome = CLR_SCAN_FAILED;
    bool is_argument[CLR_MOST_INSTRUCTIONS] = {false}, wanted[CLR_MOST_INSTRUCTIONS];
    int i;

    for (i = 0; i < scan->tally_count; i++) {
        if (scan->tallies[i].x >= 0)
            is_argument[scan->tallies[i].x] = true;
        if (scan->tallies[i].y >= 0)
            is_argument[scan->tallies[i].y] = true;
    }
    memcpy(wanted, is_argument, sizeof wanted);
    for (i = 0; i < scan->grouping->key_count; i++)
        wanted[scan->grouping->keys[i]] = true;
    if (planner != NULL && sample != NULL)
        outcome = sample_take(scan, rows, is_argument, wanted, sample);
    if (outcome == CLR_SCAN_DONE) {
        planner->plan = plan;
        planner->scan = plan->scan = scan;
        planner->rows = rows;
        planner->has_all = scan->rows == rows;
        planner->runner = runner;
        plan->grouping = *scan->grouping;
        plan->tally_count = scan->tally_count;
        plan->seed = scan->seed;
        planner->doubts = doubts;
        planner->sample = sample;
        find_nulls(planner);
        plan_tallies(planner);
        plan_keys(planner);
        plan->in_runs = runner == CLR_GROUPS_ON_DEVICE && lie_together(scan);
    }
    clr_memory_free(sample);
    clr_memory_free(planner);
    return outcome;
}
