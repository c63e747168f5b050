/*
 * What the scripts in tests/numeric/exact judge: reads a command a line from standard input, and
 * writes a line for each.
 *
 *     dyadic A B          product, difference, sign of the comparison, quotient, root of |A / B|
 *     state COUNT X Y XX YY XY   count and sums, consistent or not, the statistics
 *     rows squares X... [and SUM X]      whether sums of rows, and X, are surely consistent
 *     rows pairs X Y X Y... [and SUM X]  by the filter, and whether they are
 *     sum STEP...         what is asked for among the steps; those of sum-lines.c:
 *     accumulator STEP... the same
 *     int192 STEP...      the same
 *     terms X...          what an expansion drops of each number, and its terms
 *     rounding X Y Z      the rounded sum of an expansion's terms
 *     two X Y             the sum, its error, and the sum rounded to odd
 *     order X Y...        the order of the first number and each of the others
 *
 * A number is written -?HEX@E, hexadecimal digits times 2^(64 E), or 0@0. A statistic is a number
 * with 17 digits, iCOUNT, or NULL; a double has 17 digits, too, and is read as strtod() does.
 */
#include "numeric/exact/moments.c"

#include "numeric/exact_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 1 << 20 };

static char line[LINE_SIZE];

void lines_refuse(const char *what)
{
    fprintf(stderr, "exact-lines: not understood: %s\n", what);
    exit(1);
}

char *lines_word(void)
{
    return strtok(NULL, " \n");
}

static int nibble(char c)
{
    const char *digits = "0123456789abcdef", *at = strchr(digits, c);
    if (c == '\0' || at == NULL)
        lines_refuse("a digit");
    return (int)(at - digits);
}

static void read_dyadic(struct clr_dyadic *number, const char *text)
{
    const char *end = strchr(text, '@'), *first;

    if (end == NULL)
        lines_refuse(text);
    memset(number, 0, sizeof *number);
    number->negative = *text == '-';
    first = text + number->negative;
    number->exponent = atoi(end + 1);
    number->size = (int)(end - first + 15) / 16;
    if (number->size > DYADIC_LIMBS)
        lines_refuse("more limbs than there are");
    for (int i = 0; first + i < end; i++) {
        int position = (int)(end - first) - 1 - i;
        number->limb[position / 16] |= (uint64_t)nibble(first[i]) << (4 * (position % 16));
    }
    if (number->size == 1 && number->limb[0] == 0)
        number->size = 0;
}

static void write_dyadic(const struct clr_dyadic *number)
{
    if (number->size == 0) {
        /* Zero has one form only. */
        printf(number->negative || number->exponent != 0 ? "another zero " : "0@0 ");
        return;
    }
    if (number->negative)
        putchar('-');
    for (int i = number->size - 1; i >= 0; i--)
        printf("%016" PRIx64, number->limb[i]);
    printf("@%d ", number->exponent);
}

static void run_dyadic(const char *first, const char *second)
{
    static struct clr_dyadic a, b, result;

    read_dyadic(&a, first);
    read_dyadic(&b, second);
    memset(&result, 0xa5, sizeof result);
    dyadic_multiply(&result, &a, &b);
    write_dyadic(&result);
    memset(&result, 0xa5, sizeof result);
    dyadic_subtract(&result, &a, &b);
    write_dyadic(&result);
    printf("%d", (dyadic_compare(&a, &b) > 0) - (dyadic_compare(&a, &b) < 0));
    if (b.size > 0)
        printf(" %.17g %.17g", dyadic_quotient(&a, &b), dyadic_root(&a, &b));
    putchar('\n');
}

struct state {
    struct clr_sum x, y, xx, yy, xy;
    struct clr_sums sums;
};

static void clear(struct state *state)
{
    clr_sum_clear(&state->x);
    clr_sum_clear(&state->y);
    clr_sum_clear(&state->xx);
    clr_sum_clear(&state->yy);
    clr_sum_clear(&state->xy);
    state->sums =
        (struct clr_sums){0, 0, {&state->x, &state->xx, &state->y, &state->yy, &state->xy}};
}

static void write_sum(struct clr_sum *sum)
{
    static struct clr_dyadic number;
    struct clr_magnitude value;

    clr_sum_exact(sum, &value);
    dyadic_set_magnitude(&number, &value);
    write_dyadic(&number);
}

static void write_state(struct state *state)
{
    struct clr_value value;

    printf("%" PRId64 " ", state->sums.count);
    write_sum(&state->x);
    write_sum(&state->y);
    write_sum(&state->xx);
    write_sum(&state->yy);
    write_sum(&state->xy);
    printf("%d", clr_moments_consistent(&state->sums));
    for (enum clr_statistic statistic = CLR_VAR_POP; statistic <= CLR_REGR_SXY; statistic++) {
        unsigned needed = clr_statistic_needs(statistic);
        struct clr_sums sums = state->sums;

        for (int i = 0; i < CLR_MOST_TERMS; i++) {
            if (!(needed & 1u << i))
                sums.sums[i] = NULL;
        }
        clr_moments_finish(&sums, statistic, &value);
        if (value.kind == CLR_KIND_REAL)
            printf(" %.17g", value.as.real);
        else if (value.kind == CLR_KIND_INTEGER)
            printf(" i%" PRId64, value.as.integer);
        else
            printf(" NULL");
    }
    putchar('\n');
}

/* Sets a sum through its long accumulator, as a device or a stored state does. */
static void read_sum(struct clr_sum *sum, const char *text)
{
    static const double nothing[CLR_EXPANSION_TERMS];
    static struct clr_dyadic number;
    int64_t digits[CLR_ACCUMULATOR_DIGITS] = {0};
    int first;

    read_dyadic(&number, text);
    first = 2 * number.exponent - CLR_ACCUMULATOR_BASE / 32;
    for (int i = 0; i < 2 * number.size; i++) {
        int64_t digit = (int64_t)(number.limb[i / 2] >> (32 * (i % 2)) & 0xffffffff);
        if (digit == 0)
            continue;
        if (first + i < 0 || first + i >= CLR_ACCUMULATOR_DIGITS)
            lines_refuse("a sum past the accumulator");
        digits[first + i] = number.negative ? -digit : digit;
    }
    clr_sum_add_device_parts(sum, nothing, digits);
}

static void run_state(const char *count)
{
    static struct state state;
    struct clr_sum *const sums[] = {&state.x, &state.y, &state.xx, &state.yy, &state.xy};

    clear(&state);
    state.sums.count = strtoll(count, NULL, 10);
    for (int i = 0; i < 5; i++) {
        const char *text = lines_word();
        if (text == NULL)
            lines_refuse("a state");
        read_sum(sums[i], text);
    }
    write_state(&state);
}

/* Adds x, or x * y, to a sum. */
static void add_to(struct clr_sum *sum, const struct clr_value *x, const struct clr_value *y)
{
    const bool is_integer = x->kind == CLR_KIND_INTEGER;

    if (y == NULL && is_integer)
        clr_sum_add_integer(sum, x->as.integer, 1);
    else if (y == NULL)
        clr_sum_add(sum, x->as.real, 1);
    else if (is_integer && y->kind == CLR_KIND_INTEGER)
        clr_sum_add_integer(sum, (clr_i128)x->as.integer * y->as.integer, 1);
    else if (is_integer)
        clr_sum_add_mixed_product(sum, x->as.integer, y->as.real, 1);
    else if (y->kind == CLR_KIND_INTEGER)
        clr_sum_add_mixed_product(sum, y->as.integer, x->as.real, 1);
    else
        clr_sum_add_product(sum, x->as.real, y->as.real, 1);
}

/* Of rows, and what is added to one of their sums: whether these are surely consistent, and whether
   they are. */
static void run_rows(const char *kind)
{
    static struct state state;
    const bool is_paired = strcmp(kind, "pairs") == 0;
    struct clr_sum *const *sums = state.sums.sums;
    struct clr_value x, y;
    const char *word;

    clear(&state);
    while ((word = lines_word()) != NULL && strcmp(word, "and") != 0) {
        x = lines_number(word);
        state.sums.count++;
        add_to(sums[CLR_MOMENT_X], &x, NULL);
        add_to(sums[CLR_MOMENT_XX], &x, &x);
        if (!is_paired)
            continue;
        y = lines_number(lines_word());
        add_to(sums[CLR_MOMENT_Y], &y, NULL);
        add_to(sums[CLR_MOMENT_YY], &y, &y);
        add_to(sums[CLR_MOMENT_XY], &x, &y);
    }
    if (word != NULL) {
        const int changed = atoi(lines_word());

        x = lines_number(lines_word());
        add_to(sums[changed], &x, NULL);
    }
    for (int i = is_paired ? CLR_MOST_TERMS : CLR_MOMENT_Y; i < CLR_MOST_TERMS; i++)
        state.sums.sums[i] = NULL;
    printf("%d", clr_moments_surely_consistent(&state.sums));
    printf(" %d\n", clr_moments_consistent(&state.sums));
}

int main(void)
{
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *command = strtok(line, " \n"), *first, *second;

        if (command == NULL)
            lines_refuse("no command");
        if (lines_run_sums(command))
            continue;
        first = lines_word();
        if (first != NULL && strcmp(command, "state") == 0) {
            run_state(first);
        } else if (first != NULL && strcmp(command, "rows") == 0) {
            run_rows(first);
        } else if (first != NULL && strcmp(command, "dyadic") == 0) {
            second = lines_word();
            if (second == NULL)
                lines_refuse("one number alone");
            run_dyadic(first, second);
        } else {
            lines_refuse("a command");
        }
    }
    return 0;
}
