#include "numeric/order/sorted_copy.h"

#include "base/memory.h"
#include "numeric/order/keys.h"

#include <stdatomic.h>
#include <string.h>

/* Rows or words that are gone over between two looks at whether to stop. */
enum { PIECE = 1 << 16, DIGIT_BITS = 8, DIGIT_VALUES = 1 << DIGIT_BITS, DIGITS = 8 };

/*
 * A number is a word, in the order of the numbers: what the column's frame keeps of it, or its key
 * of 64 bits (keys.h).
 */
struct clr_sorted_copy {
    atomic_int references;
    enum clr_kind kind;
    uint8_t width;          /* bytes of a word: 1, 2, 4 or 8 */
    struct clr_frame frame; /* where that is not 8 */
    uint64_t count;
    size_t size; /* of all of it, in bytes */
    struct clr_distinct_result distinct;
    /* Of 4 or 8 bytes: the words in order. Of fewer: how many numbers have this word or a lesser
       one, for each word that there could be. */
    void *words;
};

/* ---- What one is asked. */

static uint64_t word_at(const void *words, uint8_t width, size_t place)
{
    return width == 4 ? ((const uint32_t *)words)[place] : ((const uint64_t *)words)[place];
}

static struct clr_value value_of(const struct clr_sorted_copy *copy, uint64_t word)
{
    struct clr_value value = {.kind = copy->kind};
    int64_t integer;

    if (copy->width == 8)
        return clr_sort_key_to_value(copy->kind, (int64_t)(word ^ CLR_KEY_SIGN));
    integer = (int64_t)((uint64_t)copy->frame.least + word);
    if (copy->kind == CLR_KIND_INTEGER)
        value.as.integer = integer;
    else
        value.as.real = clr_real_of(clr_decimal_bits(integer, copy->frame.power));
    return value;
}

static size_t words_of(uint8_t width)
{
    return (size_t)1 << 8 * width;
}

struct clr_value clr_sorted_copy_at(const struct clr_sorted_copy *copy, uint64_t rank)
{
    const uint64_t *ends = copy->words;
    size_t low = 0, high, middle;

    if (copy->width >= 4)
        return value_of(copy, word_at(copy->words, copy->width, (size_t)rank));
    for (high = words_of(copy->width) - 1; low < high;) {
        middle = (low + high) / 2;
        if (ends[middle] > rank)
            high = middle;
        else
            low = middle + 1;
    }
    return value_of(copy, low);
}

uint64_t clr_sorted_copy_count(const struct clr_sorted_copy *copy)
{
    return copy->count;
}

const struct clr_distinct_result *clr_sorted_copy_distinct(const struct clr_sorted_copy *copy)
{
    return &copy->distinct;
}

size_t clr_sorted_copy_size(const struct clr_sorted_copy *copy)
{
    return copy == NULL ? 0 : copy->size;
}

struct clr_sorted_copy *clr_sorted_copy_retain(struct clr_sorted_copy *copy)
{
    if (copy != NULL)
        atomic_fetch_add(&copy->references, 1);
    return copy;
}

void clr_sorted_copy_release(struct clr_sorted_copy *copy)
{
    if (copy == NULL || atomic_fetch_sub(&copy->references, 1) != 1)
        return;
    clr_memory_free(copy->words);
    clr_memory_free(copy);
}

/* ---- The making. */

/* What a portion of the rows has, and where its words go. */
struct part {
    unsigned types; /* bits 1 << tag */
    uint64_t count; /* of numbers */
    size_t place;   /* of its first word */
    /* Of each digit, or of the words of 1 or 2 bytes themselves. */
    size_t *counts;
};

struct making {
    const struct clr_column *column;
    const struct clr_portions *portions;
    struct clr_sorted_copy *copy;
    struct part *parts;  /* of each portion */
    uint8_t tag;         /* of all numbers */
    void *words, *other; /* of 4 or 8 bytes: all of them, and room for as many */
    int digit;
};

static size_t find_start(uint64_t count, int portions, int i)
{
    return (size_t)(count / (unsigned)portions * (unsigned)i) +
           (size_t)(count % (unsigned)portions * (unsigned)i / (unsigned)portions);
}

/* Returns how many bytes a word has of a column whose numbers have that type. The bits of REALs are
   in the order of the numbers only as keys. */
static uint8_t width_of(const struct clr_column *column, uint8_t tag)
{
    const bool is_kept =
        column->words != NULL && (tag == CLR_TAG_INTEGER || column->frame.power != 0.0);

    return is_kept ? column->frame.bytes : 8;
}

/* Returns how many counts a portion has for words of so many bytes. */
static size_t counts_of(uint8_t width)
{
    return width < 4 ? words_of(width) : (size_t)width * DIGIT_VALUES;
}

static size_t cost_of(size_t rows, uint8_t width, int portions)
{
    return sizeof(struct clr_sorted_copy) +
           (size_t)portions * (sizeof(struct part) + counts_of(width) * sizeof(size_t)) +
           (width < 4 ? words_of(width) * sizeof(uint64_t) : 2 * rows * width);
}

size_t clr_sorted_copy_cost(const struct clr_column *column, int portions)
{
    size_t integers, reals;

    if (column->codes != NULL || column->rows == 0 ||
        (column->kind != CLR_TAG_INTEGER && column->kind != CLR_TAG_REAL &&
         column->kind != CLR_TAG_MIXED))
        return 0;
    integers = cost_of(column->rows, width_of(column, CLR_TAG_INTEGER), portions);
    reals = cost_of(column->rows, width_of(column, CLR_TAG_REAL), portions);
    if (column->kind == CLR_TAG_MIXED)
        return integers > reals ? integers : reals;
    return column->kind == CLR_TAG_INTEGER ? integers : reals;
}

/* Finds the types of a portion's rows, and counts the numbers. */
static void look(void *argument, int i, const atomic_bool *stop)
{
    struct making *making = argument;
    const struct clr_column *column = making->column;
    const size_t end = find_start(column->rows, making->portions->count, i + 1);
    size_t row = find_start(column->rows, making->portions->count, i), nulls = 0, next;
    struct part *part = &making->parts[i];
    unsigned types = 0;

    part->count = end - row;
    if (column->kind != CLR_TAG_MIXED) {
        part->types = 1u << column->kind;
        return;
    }
    for (; row < end && !clr_portion_stops(stop); row = next) {
        next = end - row < PIECE ? end : row + PIECE;
        for (; row < next; row++) {
            types |= 1u << column->tags[row];
            nulls += column->tags[row] == CLR_TAG_NULL;
        }
    }
    part->types = types;
    part->count -= nulls;
}

static void count_word(struct part *part, uint64_t word, uint8_t width)
{
    unsigned digit;

    if (width < 4)
        part->counts[word]++;
    else
        for (digit = 0; digit < width; digit++)
            part->counts[digit * DIGIT_VALUES + (word >> digit * DIGIT_BITS & 255)]++;
}

/* Puts the words of some rows where they go, if they are of 4 or 8 bytes. */
static inline void take_rows(const struct making *making, struct part *part, size_t first,
                             size_t count, uint8_t width, bool has_nulls)
{
    const struct clr_column *column = making->column;
    int64_t room[1024];
    const int64_t *values = NULL;
    size_t i;

    if (width == 8)
        values = clr_column_values(column, first, count, room);
    for (i = 0; i < count; i++) {
        uint64_t word;

        if (has_nulls && column->tags[first + i] == CLR_TAG_NULL)
            continue;
        if (width == 1)
            word = ((const uint8_t *)column->words)[first + i];
        else if (width == 2)
            word = ((const uint16_t *)column->words)[first + i];
        else if (width == 4)
            word = ((const uint32_t *)column->words)[first + i];
        else if (making->tag == CLR_TAG_REAL)
            word = (uint64_t)clr_real_to_key(values[i]) ^ CLR_KEY_SIGN;
        else
            word = clr_integer_to_key(values[i]);
        count_word(part, word, width);
        if (width == 4)
            ((uint32_t *)making->words)[part->place++] = (uint32_t)word;
        else if (width == 8)
            ((uint64_t *)making->words)[part->place++] = word;
    }
}

/* Takes the words of a portion of the rows. */
static void take(void *argument, int i, const atomic_bool *stop)
{
    struct making *making = argument;
    const size_t rows = making->column->rows;
    const size_t end = find_start(rows, making->portions->count, i + 1);
    const bool has_nulls = making->column->kind == CLR_TAG_MIXED;
    size_t row = find_start(rows, making->portions->count, i), count;

    for (; row < end && !clr_portion_stops(stop); row += count) {
        count = end - row < 1024 ? end - row : 1024;
        switch (making->copy->width) {
        case 1:
            take_rows(making, &making->parts[i], row, count, 1, has_nulls);
            break;
        case 2:
            take_rows(making, &making->parts[i], row, count, 2, has_nulls);
            break;
        case 4:
            take_rows(making, &making->parts[i], row, count, 4, has_nulls);
            break;
        default:
            take_rows(making, &making->parts[i], row, count, 8, has_nulls);
            break;
        }
    }
}

static inline size_t digit_of(const struct making *making, size_t place, uint8_t width)
{
    return word_at(making->words, width, place) >> making->digit * DIGIT_BITS & (DIGIT_VALUES - 1);
}

/* Counts a digit in a portion of the words. */
static inline void count_in(const struct making *making, size_t *counts, size_t first, size_t end,
                            uint8_t width)
{
    for (; first < end; first++)
        counts[digit_of(making, first, width)]++;
}

static void count_digit(void *argument, int i, const atomic_bool *stop)
{
    const struct making *making = argument;
    const size_t end = find_start(making->copy->count, making->portions->count, i + 1);
    size_t first = find_start(making->copy->count, making->portions->count, i), next;
    size_t *counts = making->parts[i].counts;

    memset(counts, 0, DIGIT_VALUES * sizeof *counts);
    for (; first < end && !clr_portion_stops(stop); first = next) {
        next = end - first < PIECE ? end : first + PIECE;
        if (making->copy->width == 4)
            count_in(making, counts, first, next, 4);
        else
            count_in(making, counts, first, next, 8);
    }
}

/* Moves a portion's words to where its counts say that those of each digit go. */
static inline void move_in(const struct making *making, size_t *starts, size_t first, size_t end,
                           uint8_t width)
{
    for (; first < end; first++) {
        const size_t to = starts[digit_of(making, first, width)]++;

        if (width == 4)
            ((uint32_t *)making->other)[to] = ((const uint32_t *)making->words)[first];
        else
            ((uint64_t *)making->other)[to] = ((const uint64_t *)making->words)[first];
    }
}

static void move_digit(void *argument, int i, const atomic_bool *stop)
{
    const struct making *making = argument;
    const size_t end = find_start(making->copy->count, making->portions->count, i + 1);
    size_t first = find_start(making->copy->count, making->portions->count, i), next;

    for (; first < end && !clr_portion_stops(stop); first = next) {
        next = end - first < PIECE ? end : first + PIECE;
        if (making->copy->width == 4)
            move_in(making, making->parts[i].counts, first, next, 4);
        else
            move_in(making, making->parts[i].counts, first, next, 8);
    }
}

/* Whether a digit differs between any two words, by what the portions have counted of it. */
static bool differs(const struct making *making, int digit)
{
    size_t value, all;
    int i;

    for (value = 0; value < DIGIT_VALUES; value++) {
        for (all = 0, i = 0; i < making->portions->count; i++)
            all += making->parts[i].counts[digit * DIGIT_VALUES + (int)value];
        if (all != 0)
            return all != making->copy->count;
    }
    return false;
}

static enum clr_code sort(struct making *making)
{
    bool is_needed[DIGITS];
    void *words;
    int digit, i;

    for (digit = 0; digit < making->copy->width; digit++)
        is_needed[digit] = differs(making, digit);
    for (digit = 0; digit < making->copy->width; digit++) {
        size_t start = 0, value;

        if (!is_needed[digit])
            continue;
        making->digit = digit;
        if (!clr_portions_run(making->portions, count_digit, making))
            return CLR_STOPPED;
        for (value = 0; value < DIGIT_VALUES; value++) {
            for (i = 0; i < making->portions->count; i++) {
                size_t *count = &making->parts[i].counts[value], here = *count;
                *count = start;
                start += here;
            }
        }
        if (!clr_portions_run(making->portions, move_digit, making))
            return CLR_STOPPED;
        words = making->words;
        making->words = making->other;
        making->other = words;
    }
    return CLR_OK;
}

/* Takes note of equal words. */
static void add_run(struct clr_sorted_copy *copy, uint64_t word, uint64_t length)
{
    copy->distinct.size++;
    if (length <= copy->distinct.count)
        return;
    copy->distinct.count = length;
    copy->distinct.mode = value_of(copy, word);
}

/* Counts the runs of equal words; -0.0 is 0.0 in them. */
static void find_runs(struct clr_sorted_copy *copy)
{
    const bool real = copy->width == 8 && copy->kind == CLR_KIND_REAL;
    uint64_t last = 0, word, length = 0;
    size_t i;

    for (i = 0; i < copy->count; i++) {
        word = word_at(copy->words, copy->width, i);
        if (real && word == CLR_KEY_SIGN - 1)
            word = CLR_KEY_SIGN;
        if (length > 0 && word != last) {
            add_run(copy, last, length);
            length = 0;
        }
        last = word;
        length++;
    }
    add_run(copy, last, length);
}

/* Puts together what the portions have counted. */
static void join_counts(struct making *making)
{
    uint64_t *ends = making->words, end = 0;
    size_t word;
    int i;

    for (word = 0; word < words_of(making->copy->width); word++) {
        uint64_t count = 0;

        for (i = 0; i < making->portions->count; i++)
            count += making->parts[i].counts[word];
        ends[word] = end += count;
        if (count > 0)
            add_run(making->copy, word, count);
    }
}

/* Finds the type of all numbers, and where each portion's words go. */
static enum clr_code plan(struct making *making)
{
    unsigned types = 0;
    int i;

    if (!clr_portions_run(making->portions, look, making))
        return CLR_STOPPED;
    for (i = 0; i < making->portions->count; i++) {
        making->parts[i].place = making->copy->count;
        making->copy->count += making->parts[i].count;
        types |= making->parts[i].types;
    }
    types &= ~(1u << CLR_TAG_NULL);
    if (types != 1u << CLR_TAG_INTEGER && types != 1u << CLR_TAG_REAL)
        return CLR_INVALID;
    making->tag = types == 1u << CLR_TAG_REAL ? CLR_TAG_REAL : CLR_TAG_INTEGER;
    making->copy->kind = making->tag == CLR_TAG_REAL ? CLR_KIND_REAL : CLR_KIND_INTEGER;
    making->copy->width = width_of(making->column, making->tag);
    return CLR_OK;
}

/* Makes room for the words, and for the counts of all portions. */
static bool make_room(struct making *making, size_t **counts)
{
    const uint8_t width = making->copy->width;
    const size_t each = counts_of(width);
    size_t size = width < 4 ? words_of(width) * sizeof(uint64_t) : making->copy->count * width;
    int i;

    making->words = clr_memory_alloc(size);
    if (width >= 4)
        making->other = clr_memory_alloc(size);
    *counts = clr_memory_alloc_zero((size_t)making->portions->count * each * sizeof **counts);
    for (i = 0; i < making->portions->count && *counts != NULL; i++)
        making->parts[i].counts = *counts + (size_t)i * each;
    making->copy->size = sizeof *making->copy + size;
    return making->words != NULL && (width < 4 || making->other != NULL) && *counts != NULL;
}

static enum clr_code make(struct making *making)
{
    size_t *counts = NULL;
    enum clr_code code = plan(making);

    if (code == CLR_OK && !make_room(making, &counts))
        code = CLR_NOMEM;
    if (code == CLR_OK && !clr_portions_run(making->portions, take, making))
        code = CLR_STOPPED;
    if (code == CLR_OK && making->copy->width < 4)
        join_counts(making);
    else if (code == CLR_OK)
        code = sort(making);
    clr_memory_free(counts);
    clr_memory_free(making->other);
    making->copy->words = making->words;
    if (code == CLR_OK && making->copy->width >= 4)
        find_runs(making->copy);
    return code;
}

enum clr_code clr_sorted_copy_make(const struct clr_column *column,
                                   const struct clr_portions *portions,
                                   struct clr_sorted_copy **copy)
{
    struct making making = {.column = column, .portions = portions};
    enum clr_code code = CLR_NOMEM;

    making.copy = clr_memory_alloc_zero(sizeof *making.copy);
    making.parts = clr_memory_alloc_zero((size_t)portions->count * sizeof *making.parts);
    if (making.copy != NULL) {
        atomic_init(&making.copy->references, 1);
        making.copy->frame = column->frame;
        if (making.parts != NULL)
            code = make(&making);
    }
    clr_memory_free(making.parts);
    *copy = making.copy;
    if (code != CLR_OK) {
        clr_sorted_copy_release(making.copy);
        *copy = NULL;
    }
    return code;
}
