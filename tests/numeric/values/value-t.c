/* The order of values: as SQLite's, exact between integers and doubles, and total. */
#include "numeric/values/value.h"

#include "batch.h"
#include "numeric/bigint.h"
#include "random.h"

#define INTEGER(x) ((struct clr_value){.kind = CLR_KIND_INTEGER, .as.integer = (x)})
#define REAL(x) ((struct clr_value){.kind = CLR_KIND_REAL, .as.real = (x)})
#define TEXT(x) ((struct clr_value){.kind = CLR_KIND_TEXT, .as.size = sizeof(x) - 1, .bytes = (x)})
#define BLOB(x) ((struct clr_value){.kind = CLR_KIND_BLOB, .as.size = sizeof(x) - 1, .bytes = (x)})

static const struct clr_value *shown(const struct clr_value *value)
{
    if (value->kind == CLR_KIND_INTEGER)
        tap_diag("INTEGER %" PRId64, value->as.integer);
    else if (value->kind == CLR_KIND_REAL)
        tap_diag("REAL %a", value->as.real);
    else
        tap_diag("%s of %zu bytes", value->kind == CLR_KIND_TEXT ? "TEXT" : "BLOB", value->as.size);
    return value;
}

static int sign_of(int number)
{
    return (number > 0) - (number < 0);
}

/* The order of two numbers by their exact values. */
static int exact_order(const struct clr_value *a, const struct clr_value *b)
{
    const struct clr_value *both[2] = {a, b};
    struct bigint difference, number[2];

    for (int i = 0; i < 2; i++) {
        bigint_clear(&number[i]);
        if (both[i]->kind == CLR_KIND_INTEGER)
            bigint_add_integer(&number[i], both[i]->as.integer);
        else if (isinf(both[i]->as.real))
            bigint_set(&number[i], both[i]->as.real < 0, 1, 2000);
        else
            bigint_add_double(&number[i], both[i]->as.real);
    }
    difference = number[0];
    number[1].negative = !number[1].negative;
    bigint_add(&difference, &number[1]);
    return bigint_is_zero(&difference) ? 0 : difference.negative ? -1 : 1;
}

/* What the order should be, from the contract. */
static int wanted_order(const struct clr_value *a, const struct clr_value *b, int preferred_sign)
{
    int order = exact_order(a, b);

    if (order != 0)
        return order;
    if (a->kind != b->kind)
        return a->kind == CLR_KIND_INTEGER ? preferred_sign : -preferred_sign;
    if (a->kind == CLR_KIND_REAL) /* -0.0 comes before +0.0 */
        return !!signbit(b->as.real) - !!signbit(a->as.real);
    return 0;
}

static void check_numbers(const struct clr_value *a, const struct clr_value *b)
{
    for (int preferred_sign = -1; preferred_sign <= 1; preferred_sign += 2) {
        int order = sign_of(clr_value_compare(a, b, preferred_sign));
        int want = wanted_order(a, b, preferred_sign);
        if (!batch_ok(order == want, "%d instead of %d for:", order, want)) {
            shown(a);
            shown(b);
        }
    }
}

/* Numbers around every limit: of a double's integers, of 64 bits, of both zeros. */
static size_t fill_numbers(struct clr_value *numbers)
{
    static const double centres[] = {0.0,    1.0,    0x1p31, 0x1p52,   0x1p53,    0x1p54,    0x1p62,
                                     0x1p63, 0x1p64, 1e300,  INFINITY, 0x1p-1074, 0x1p-1022, 0.5};
    enum { CENTRES = sizeof centres / sizeof centres[0] };
    size_t count = 0;

    for (int i = 0; i < CENTRES; i++) {
        double below = nextafter(centres[i], -INFINITY), above = nextafter(centres[i], INFINITY);
        for (int j = -1; j <= 1; j += 2) {
            numbers[count++] = REAL(j * centres[i]);
            numbers[count++] = REAL(j * below);
            numbers[count++] = REAL(j * above);
            numbers[count++] = REAL(j * (centres[i] + 0.5));
        }
    }
    for (int i = 0; i < 64; i++) {
        for (int j = -2; j <= 2; j++) {
            numbers[count++] = INTEGER((int64_t)(((uint64_t)1 << i) + (uint64_t)j));
            numbers[count++] = INTEGER((int64_t)(-((uint64_t)1 << i) + (uint64_t)j));
        }
    }
    return count;
}

TAP_TEST(test_numbers)
{
    static struct clr_value numbers[1000];
    size_t count = fill_numbers(numbers);

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++)
            check_numbers(&numbers[i], &numbers[j]);
    }
    batch_end("numbers around the limits, each against each");

    for (size_t i = 0; i < 5000; i++) {
        int64_t integer = random_integer();
        double near = (double)integer;
        check_numbers(&INTEGER(integer), &REAL(near));
        check_numbers(&REAL(nextafter(near, 0)), &INTEGER(integer));
        check_numbers(&INTEGER(integer), &REAL(random_finite()));
        check_numbers(&INTEGER(integer), &INTEGER(random_integer()));
        check_numbers(&REAL(random_finite()), &REAL(random_finite()));
    }
    batch_end("any numbers");
}

/* In ascending order. The bytes of TEXT and BLOB decide as unsigned ones, and length after them. */
TAP_TEST(test_ladder)
{
    const struct clr_value ladder[] = {
        REAL(-INFINITY), INTEGER(INT64_MIN), REAL(-0x1p53), INTEGER(-1),    REAL(-0.5),
        REAL(-0.0),      REAL(0.0),          REAL(1e-300),  INTEGER(1),     INTEGER(INT64_MAX),
        REAL(0x1p63),    REAL(INFINITY),     TEXT(""),      TEXT("\0"),     TEXT("\0a"),
        TEXT("1"),       TEXT("10"),         TEXT("A"),     TEXT("a"),      TEXT("a\0"),
        TEXT("a\0b"),    TEXT("ab"),         TEXT("b"),     TEXT("\x7f"),   TEXT("\xc3\xa4"),
        TEXT("\xff"),    BLOB(""),           BLOB("\0"),    BLOB("\0\xff"), BLOB("a"),
        BLOB("\xff"),    BLOB("\xff\xff")};

    TAP_EACH (i, ladder) {
        TAP_EACH (j, ladder) {
            int want = (i > j) - (i < j);
            batch_ok(sign_of(clr_value_compare(&ladder[i], &ladder[j], 1)) == want &&
                         sign_of(clr_value_compare(&ladder[i], &ladder[j], -1)) == want,
                     "step %zu against step %zu", i, j);
        }
    }
    batch_end("numbers before TEXT before BLOB");
}

TAP_TEST(test_empty)
{
    struct clr_value empty = {.kind = CLR_KIND_BLOB}, other = BLOB("x");

    tap_is_int64(clr_value_compare(&empty, &empty, 1), 0, "empty BLOBs without an address");
    tap_ok(clr_value_compare(&empty, &other, 1) < 0, "and before any other");
}

/* Keys must order doubles as comparisons do, and give the double back. */
TAP_TEST(test_keys)
{
    for (int i = 0; i < 20000; i++) {
        double x = random_hard(0, 2047), y = i & 1 ? random_hard(0, 2047) : -x;
        int64_t x_bits, y_bits, x_key, y_key;
        memcpy(&x_bits, &x, sizeof x);
        memcpy(&y_bits, &y, sizeof y);
        x_key = clr_real_to_key(x_bits);
        y_key = clr_real_to_key(y_bits);
        batch_ok(clr_real_to_key(x_key) == x_bits, "%a does not come back", x);
        if (x < y || x > y)
            batch_ok((x < y) == (x_key < y_key), "%a and %a", x, y);
    }
    batch_end("keys of doubles");
}
