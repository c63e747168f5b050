/* The commands of exact-lines.c that are about sums, and about what sums are made of. */
#include "numeric/exact/sum.c"

#include "numeric/exact_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool is(const char *word, const char *name)
{
    return strcmp(word, name) == 0;
}

static const char *argument(void)
{
    const char *word = lines_word();

    if (word == NULL)
        lines_refuse("too few words");
    return word;
}

static double real(void)
{
    return strtod(argument(), NULL);
}

static int64_t integer(void)
{
    return (int64_t)strtoll(argument(), NULL, 0);
}

static uint64_t natural(void)
{
    return strtoull(argument(), NULL, 0);
}

/* Decimal digits, perhaps behind a sign. */
static clr_i128 wide_integer(void)
{
    const char *digit = argument();
    const bool is_negative = *digit == '-';
    clr_u128 size = 0;

    for (digit += is_negative; *digit != '\0'; digit++)
        size = size * 10 + (unsigned)(*digit - '0');
    return (clr_i128)(is_negative ? -size : size);
}

static struct clr_int192 int192(void)
{
    struct clr_int192 value;

    value.low = natural();
    value.middle = natural();
    value.high = natural();
    return value;
}

/* Reads so many digits of an accumulator, each with its place; all others are 0. Returns whether
   there are any. */
static bool read_digits(int64_t digits[CLR_ACCUMULATOR_DIGITS])
{
    const int count = (int)integer();

    memset(digits, 0, CLR_ACCUMULATOR_DIGITS * sizeof *digits);
    for (int i = 0; i < count; i++) {
        const uint64_t at = natural();

        if (at >= CLR_ACCUMULATOR_DIGITS)
            lines_refuse("a digit past the accumulator");
        digits[at] = integer();
    }
    return count > 0;
}

static void write_real(double value)
{
    printf(isnan(value) ? "nan " : "%.17g ", value);
}

/* Digits from the first one to the last one, and the place of the last one. */
static void write_magnitude(const struct clr_magnitude *value)
{
    if (value->top < 0) {
        printf(value->low == 0 && value->top == -1 && !value->negative ? "0 " : "another-zero ");
        return;
    }
    printf("%s", value->negative ? "-" : "");
    for (int i = value->top; i >= value->low; i--)
        printf("%08" PRIx32, value->digit[i]);
    printf("@%d ", value->low);
}

static void run_sum(void)
{
    static struct clr_sum whole, part;
    struct clr_sum *sum = &whole;
    int64_t digits[CLR_ACCUMULATOR_DIGITS];
    struct clr_magnitude value;
    double terms[CLR_EXPANSION_TERMS];
    const char *word;

    clr_sum_clear(sum);
    while ((word = lines_word()) != NULL) {
        if (is(word, "add") || is(word, "subtract")) {
            clr_sum_add(sum, real(), is(word, "add") ? 1 : -1);
        } else if (is(word, "product") || is(word, "less-product")) {
            const double x = real();
            clr_sum_add_product(sum, x, real(), is(word, "product") ? 1 : -1);
        } else if (is(word, "integer") || is(word, "less-integer")) {
            clr_sum_add_integer(sum, wide_integer(), is(word, "integer") ? 1 : -1);
        } else if (is(word, "wide-product")) {
            const double x = real();
            clr_sum_add_wide_product(sum, x, real());
        } else if (is(word, "device")) {
            for (int i = 0; i < CLR_EXPANSION_TERMS; i++)
                terms[i] = real();
            clr_sum_add_device_parts(sum, terms, read_digits(digits) ? digits : NULL);
        } else if (is(word, "part")) {
            sum = &part;
            clr_sum_clear(sum);
        } else if (is(word, "merge")) {
            sum = &whole;
            clr_sum_merge(sum, &part);
            write_real(clr_sum_round(&part, 1));
        } else if (is(word, "exact")) {
            clr_sum_exact(sum, &value);
            write_magnitude(&value);
        } else if (is(word, "round")) {
            write_real(clr_sum_round(sum, natural()));
        } else if (is(word, "is-wide")) {
            printf("%d ", sum->wide_used);
        } else {
            lines_refuse(word);
        }
    }
}

/* Sets the digits from one place to another to the same number, as so many additions make them. */
static void fill(struct clr_accumulator *sum)
{
    int64_t digit;

    sum->low = (int)integer();
    sum->high = (int)integer();
    sum->pending = (uint32_t)natural();
    digit = integer();
    for (int i = sum->low; i <= sum->high; i++)
        sum->digit[i] = digit;
}

static void run_accumulator(void)
{
    struct clr_accumulator sum, empty;
    int64_t digits[CLR_ACCUMULATOR_DIGITS];
    struct clr_int192 value;
    const char *word;

    clr_accumulator_clear(&sum);
    clr_accumulator_clear(&empty);
    while ((word = lines_word()) != NULL) {
        if (is(word, "add")) {
            clr_accumulator_add(&sum, real());
        } else if (is(word, "product")) {
            const double x = real();
            accumulator_add_product(&sum, x, real());
        } else if (is(word, "int192")) {
            value = int192();
            clr_accumulator_add_int192(&sum, &value);
        } else if (is(word, "digits")) {
            read_digits(digits);
            accumulator_add_digits(&sum, digits);
        } else if (is(word, "fill")) {
            fill(&sum);
        } else if (is(word, "merge-nothing")) {
            clr_accumulator_merge(&sum, &empty);
        } else if (is(word, "pending")) {
            printf("%" PRIu32 " ", sum.pending);
        } else if (is(word, "round")) {
            write_real(clr_accumulator_round(&sum, natural()));
        } else {
            lines_refuse(word);
        }
    }
}

/* Writes what an expansion drops of each number, and then its terms. */
static void run_expansion(void)
{
    double terms[CLR_EXPANSION_TERMS] = {0, 0, 0};
    const char *word;

    while ((word = lines_word()) != NULL)
        write_real(clr_expansion_add(terms, strtod(word, NULL)));
    for (int i = 0; i < CLR_EXPANSION_TERMS; i++)
        write_real(terms[i]);
}

static void run_rounding(void)
{
    double terms[CLR_EXPANSION_TERMS];

    for (int i = 0; i < CLR_EXPANSION_TERMS; i++)
        terms[i] = real();
    write_real(clr_expansion_round(terms));
}

/* Writes a sum, its error, and the sum rounded to odd. */
static void run_two(void)
{
    const double x = real(), y = real();
    double error;

    write_real(clr_two_sum(x, y, &error));
    write_real(error);
    write_real(clr_add_to_odd(x, y));
}

static void run_int192(void)
{
    struct clr_int192 sum = {0, 0, 0}, other;
    int64_t result = 12345;
    const char *word;

    while ((word = lines_word()) != NULL) {
        if (is(word, "set")) {
            sum = int192();
        } else if (is(word, "add")) {
            clr_int192_add_i128(&sum, wide_integer());
        } else if (is(word, "parts")) {
            other = int192();
            clr_int192_add_parts(&sum, other.low, other.middle, other.high);
        } else if (is(word, "double")) {
            other = sum;
            clr_int192_add(&sum, &other);
        } else if (is(word, "negate")) {
            clr_int192_negate(&sum);
        } else if (is(word, "fits")) {
            printf("%d ", clr_int192_to_int64(&sum, &result));
            printf("%" PRId64 " ", result);
        } else if (is(word, "show")) {
            printf("%016" PRIx64 "%016" PRIx64 "%016" PRIx64 " %d %d ", sum.high, sum.middle,
                   sum.low, clr_int192_is_zero(&sum), clr_int192_is_negative(&sum));
        } else {
            lines_refuse(word);
        }
    }
}

struct clr_value lines_number(const char *word)
{
    struct clr_value value = {.kind = *word == 'r' ? CLR_KIND_REAL : CLR_KIND_INTEGER};

    if (*word == 'r')
        value.as.real = strtod(word + 1, NULL);
    else
        value.as.integer = strtoll(word + 1, NULL, 10);
    return value;
}

/* Writes the order of the first number and each of the others, by either sign that is preferred: 0,
   1 and 2 are equal, greater and less. */
static void run_order(void)
{
    const struct clr_value first = lines_number(argument());
    const char *word;

    while ((word = lines_word()) != NULL) {
        const struct clr_value other = lines_number(word);

        for (int sign = -1; sign <= 1; sign += 2) {
            const int order = clr_value_compare(&first, &other, sign);
            putchar(order == 0 ? '0' : order > 0 ? '1' : '2');
        }
        putchar(' ');
    }
}

bool lines_run_sums(const char *command)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } commands[] = {{"sum", run_sum},         {"accumulator", run_accumulator},
                    {"terms", run_expansion}, {"rounding", run_rounding},
                    {"two", run_two},         {"int192", run_int192},
                    {"order", run_order}};

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (is(command, commands[i].name)) {
            commands[i].run();
            putchar('\n');
            return true;
        }
    }
    return false;
}
