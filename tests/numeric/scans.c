#include "numeric/scans.h"

#include "random.h"

#include "tap.h"

#include <string.h>

struct clr_scalar scans_value(uint8_t tag)
{
    static const int64_t integers[] = {
        INT64_MAX, INT64_MIN, INT64_MAX - 1, (int64_t)1 << 53, ((int64_t)1 << 53) + 1, 63, -64, 0};
    static const double reals[] = {0x1p1000, -0x1p1000,  0x1p-1070,   -0.0,
                                   0x1p63,   0x1p-540,   -0x1p63,     0.5,
                                   -2.5,     0x1p52 + 1, 0x1p52 - 0.5};
    struct clr_scalar value = {.tag = tag};
    bool special = random_below(50) == 0;

    if (tag == CLR_TAG_INTEGER)
        value.bits = special ? integers[random_below(8)] : (int64_t)random_below(2000) - 1000;
    else if (tag == CLR_TAG_REAL)
        value.bits = clr_bits_of(special ? reals[random_below(11)]
                                         : ((double)random_below(2000000) - 1000000) / 1024 / 3);
    return value;
}

struct clr_column *scans_new(uint8_t kind, size_t rows)
{
    struct clr_column *column = clr_column_new(rows);

    TAP_NEED(column != NULL, "no memory");
    column->rows = rows;
    column->kind = kind;
    return column;
}

struct clr_column *scans_column(uint8_t kind, size_t rows, uint64_t rare)
{
    struct clr_column *column = scans_new(kind, rows);

    for (size_t i = 0; i < rows; i++) {
        uint8_t tag = kind;
        if (kind == CLR_TAG_MIXED)
            tag = (uint8_t)random_below(3);
        if (kind == CLR_TAG_MIXED && rare > 0 && random_below(rare) == 0)
            tag = CLR_TAG_BYTES;
        column->values[i] = scans_value(tag).bits;
        if (kind == CLR_TAG_MIXED)
            column->tags[i] = tag;
    }
    return column;
}

/* Returns a frame of so many bytes: of INTEGERs, of REALs, which are decimals, or of both and 0. */
static struct clr_frame draw_frame(uint8_t kind, uint8_t bytes)
{
    static const double powers[] = {1.0, 10.0, 100.0, CLR_DECIMALS_MOST_POWER};
    const bool decimals = kind == CLR_TAG_REAL || (kind == CLR_TAG_MIXED && random_below(2) == 0);
    const int64_t most = decimals ? CLR_DECIMALS_MOST - 1 : INT64_MAX;
    const int64_t greatest = INT64_MAX >> (63 - 8 * bytes), half = greatest / 2 + 1;
    const int64_t leasts[] = {0, -half, -most - 1, most - greatest};
    const int64_t least = leasts[random_below(kind == CLR_TAG_MIXED ? 2 : 4)];

    return (struct clr_frame){.bytes = bytes,
                              .least = least,
                              .known_least = least,
                              .known_greatest = least + greatest,
                              .power = decimals ? powers[random_below(4)] : 0.0};
}

void scans_narrow(struct clr_column **column, uint8_t bytes)
{
    const struct clr_frame frame = draw_frame((*column)->kind, bytes);
    const int64_t greatest = frame.known_greatest - frame.least;
    const bool mixed = (*column)->kind == CLR_TAG_MIXED;
    struct clr_column *narrow = clr_column_new_framed((*column)->rows, &frame);

    TAP_NEED(narrow != NULL, "no memory");
    narrow->rows = (*column)->rows;
    narrow->kind = (*column)->kind;
    for (size_t i = 0; i < narrow->rows; i++) {
        const uint8_t tag = mixed ? (*column)->tags[i] : narrow->kind;
        const int64_t ends[] = {0, greatest, (*column)->values[i] & greatest};
        int64_t bits = frame.least + ends[random_below(20) < 18 ? 2 : random_below(2)];

        /* Among INTEGERs REALs are 0 and subnormal ones, and all others are 0 among decimals. */
        if (tag == CLR_TAG_REAL)
            bits = frame.power != 0.0 ? clr_decimal_bits(bits, frame.power)
                                      : (*column)->values[i] & INT8_MAX;
        else if (tag != CLR_TAG_INTEGER || frame.power != 0.0)
            bits = 0;
        clr_column_put_values(narrow, i, &bits, 1);
        narrow->tags[i] = tag;
    }
    clr_column_release(*column);
    *column = narrow;
}

void scans_columns(struct clr_column *columns[SCANS_COLUMNS], size_t rows)
{
    static const uint8_t kinds[SCANS_COLUMNS] = {CLR_TAG_INTEGER, CLR_TAG_REAL, CLR_TAG_MIXED,
                                                 CLR_TAG_REAL,    CLR_TAG_NULL, CLR_TAG_BYTES};

    for (int i = 0; i < SCANS_COLUMNS; i++)
        columns[i] = scans_column(kinds[i], rows, 0);
}

struct clr_column *scans_codes(uint8_t code_bytes, uint32_t count, size_t rows, bool ascend)
{
    struct clr_column *column = clr_column_new_codes(NULL, rows, code_bytes);
    struct clr_column *codes = clr_column_new_codes(NULL, rows, sizeof(uint32_t));

    TAP_NEED(column != NULL && codes != NULL, "no memory");
    column->rows = codes->rows = rows;
    for (size_t i = 0; i < rows; i++)
        ((uint32_t *)codes->codes)[i] = (uint32_t)(ascend ? i * count / rows : random_below(count));
    clr_column_map_codes(column, 0, codes, 0, rows, NULL);
    clr_column_release(codes);
    return column;
}

struct clr_lookup scans_lookup(uint8_t kind, bool is_short, uint32_t count)
{
    struct clr_lookup_results *results = clr_lookup_results_new(count);
    struct clr_lookup lookup = {.ranked = NULL};

    TAP_NEED(results != NULL, "no memory");
    for (uint32_t i = 0; i < count; i++) {
        uint8_t tag = kind;
        if (kind == CLR_TAG_MIXED)
            tag = (uint8_t)((i + random_below(2)) % (is_short ? 2 : 3));
        results->tags[i] = tag;
        results->values[i] = scans_value(tag).bits;
        if (is_short && tag == CLR_TAG_INTEGER)
            results->values[i] = (int64_t)random_below(256) - 128;
    }
    clr_lookup_set(&lookup, results, count);
    return lookup;
}

void scans_begin(struct scans_made *made, struct clr_column *const *columns, int count)
{
    memset(made, 0, sizeof *made);
    made->scan = (struct clr_scan){.column_count = count,
                                   .filter = -1,
                                   .instructions = made->instructions,
                                   .constants = made->constants,
                                   .columns = made->columns,
                                   .rows = columns[0]->rows,
                                   .lookups = made->lookups,
                                   .tallies = made->tallies};
    for (int i = 0; i < count; i++) {
        made->columns[i] = columns[i];
        scans_add(made, CLR_OP_COLUMN, i, -1);
    }
}

int scans_add(struct scans_made *made, enum clr_opcode opcode, int a, int b)
{
    const int number = made->scan.instruction_count++;

    made->instructions[number] = (struct clr_instruction){opcode, a, b, -1};
    return number;
}

int scans_constant(struct scans_made *made, uint8_t tag, int64_t bits)
{
    const int number = made->scan.constant_count++;

    made->constants[number] = (struct clr_scalar){tag, bits};
    return scans_add(made, CLR_OP_CONSTANT, number, -1);
}

void scans_tally(struct scans_made *made, unsigned operations, int x, int y)
{
    made->tallies[made->scan.tally_count++] =
        (struct clr_tally){.operations = operations, .x = x, .y = y, .filter = -1};
}

void scans_make(struct scans_made *made, struct clr_column *const *columns)
{
    static const unsigned masks[] = {0, 1u << CLR_SUM, 1u << CLR_DOT, 1u << CLR_EXTREMES,
                                     1u << CLR_SUM | 1u << CLR_EXTREMES};
    struct clr_scan *scan = &made->scan;

    scans_begin(made, columns, SCANS_COLUMNS);
    scan->instruction_count--; /* not the last column */
    for (int i = 0; i < SCANS_CONSTANTS; i++) {
        const struct clr_scalar value = scans_value((uint8_t)(i < 3 ? 1 + i % 2 : CLR_TAG_NULL));
        scans_constant(made, value.tag, value.bits);
    }
    while (scan->instruction_count < SCANS_INSTRUCTIONS) {
        const int number = scan->instruction_count,
                  opcode = CLR_OP_ADD + random_pick(CLR_OPCODES - CLR_OP_ADD);
        const int a = random_pick(number), b = random_pick(number);

        scans_add(made, (enum clr_opcode)opcode, a, b);
        made->instructions[number].c = random_pick(number);
    }
    scan->tally_count = 1 + random_pick(SCANS_TALLIES);
    scan->filter = random_below(3) > 0 ? random_pick(SCANS_INSTRUCTIONS) : -1;
    for (int i = 0; i < scan->tally_count; i++) {
        struct clr_tally *tally = &made->tallies[i];

        tally->operations = masks[random_below(5)];
        tally->x =
            random_below(8) > 0 || tally->operations != 0 ? random_pick(SCANS_INSTRUCTIONS) : -1;
        /* Of two values the product may be one that a device leaves to the host. */
        tally->y = tally->operations & 1u << CLR_DOT ? tally->x : -1;
        tally->filter = random_below(4) == 0 ? random_pick(SCANS_INSTRUCTIONS) : -1;
    }
}

void scans_release(struct scans_made *made)
{
    for (int i = 0; i < made->scan.column_count; i++)
        clr_column_release(made->columns[i]);
}

void scans_look_up(struct scans_made *made, struct clr_column *codes,
                   const struct clr_lookup *lookup)
{
    const int column = 4;

    made->columns[column] = codes;
    made->instructions[column] = (struct clr_instruction){CLR_OP_LOOKUP, column, 0, -1};
    made->scan.lookup_count = 1;
    made->scan.lookups = lookup;
}
