/* The order of values: as SQLite's, and total. numbers-t.py has numbers, each against each. */
#include "numeric/values/value.h"

#include "batch.h"
#include "random.h"

#include <math.h>

#define INTEGER(x) ((struct clr_value){.kind = CLR_KIND_INTEGER, .as.integer = (x)})
#define REAL(x) ((struct clr_value){.kind = CLR_KIND_REAL, .as.real = (x)})
#define TEXT(x) ((struct clr_value){.kind = CLR_KIND_TEXT, .as.size = sizeof(x) - 1, .bytes = (x)})
#define BLOB(x) ((struct clr_value){.kind = CLR_KIND_BLOB, .as.size = sizeof(x) - 1, .bytes = (x)})

static int sign_of(int number)
{
    return (number > 0) - (number < 0);
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
        const int64_t x_key = clr_real_to_key(clr_bits_of(x));
        const int64_t y_key = clr_real_to_key(clr_bits_of(y));

        batch_ok(clr_real_to_key(x_key) == clr_bits_of(x), "%a does not come back", x);
        if (x < y || x > y)
            batch_ok((x < y) == (x_key < y_key), "%a and %a", x, y);
    }
    batch_end("keys of doubles");
}
