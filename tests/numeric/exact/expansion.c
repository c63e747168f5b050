/* Error-free transformations and expansions, and the rounding of an expansion. */
#include "numeric/exact/expansion.h"

#include "batch.h"
#include "numeric/bigint.h"
#include "random.h"

static double exact_sum(const double *x, size_t count)
{
    struct bigint sum = {.negative = false};

    for (size_t i = 0; i < count; i++)
        bigint_add_double(&sum, x[i]);
    return bigint_round(&sum, 1);
}

/* The processor rounds one operation right by itself, and so can judge the tests' own numbers. */
TAP_TEST(test_reference)
{
    for (int i = 0; i < batch_rounds(3000); i++) {
        double x = random_finite(), y = random_hard(600, 1400), z = random_hard(600, 1400);
        uint64_t divisor = random_bits() >> 11 >> random_below(53);
        struct bigint number = {.negative = false};

        bigint_add_double(&number, x);
        if (divisor > 0)
            batch_double(bigint_round(&number, divisor), x / (double)divisor + 0.0, "%a / %llu", x,
                         (unsigned long long)divisor);
        bigint_add_double(&number, y);
        batch_double(bigint_round(&number, 1), x + y + 0.0, "%a + %a", x, y);
        bigint_clear(&number);
        bigint_add_product(&number, x, y);
        batch_double(bigint_round(&number, 1), x * y + 0.0, "%a * %a", x, y);
        bigint_add_double(&number, z);
        batch_double(bigint_round(&number, 1), fma(x, y, z) + 0.0, "%a * %a + %a", x, y, z);
    }
    batch_end("the reference agrees with the processor");
    tap_is_double(exact_sum((double[]){0x1.fffffffffffffp1023, 0x1p970}, 2), INFINITY,
                  "from 2^1024 - 2^970 on a number is infinite");
    tap_is_double(exact_sum((double[]){0x1.fffffffffffffp1023, 0x1p970, -0x1p-1074}, 3),
                  0x1.fffffffffffffp1023, "and anything less is not");
}

/* Two parts that have the value of a and b: nothing may be lost. */
TAP_TEST(test_two_sum)
{
    for (int i = 0; i < batch_rounds(5000); i++) {
        double x = random_hard(0, 2045), error, sum;
        double y = i % 2 ? random_hard(0, 2045) : ldexp(x, random_between(-60, 0)) * 1.5;
        struct bigint rest = {.negative = false};

        sum = clr_two_sum(x, y, &error);
        batch_double(sum, x + y, "the sum of %a and %a", x, y);
        bigint_add_double(&rest, x);
        bigint_add_double(&rest, y);
        bigint_add_double(&rest, -sum);
        bigint_add_double(&rest, -error);
        batch_ok(bigint_is_zero(&rest), "%a + %a gave %a and %a", x, y, sum, error);
    }
    batch_end("a sum and its error");
}

/* What is in the terms and what is handed back is what was added. */
TAP_TEST(test_add)
{
    for (int round = 0; round < batch_rounds(1500); round++) {
        double term[CLR_EXPANSION_TERMS] = {0, 0, 0};
        struct bigint rest = {.negative = false};
        int spread = random_between(1, 900);

        for (int i = 0; i < 20; i++) {
            double x = random_hard(1023 - spread, 1023 + spread);
            double dropped = clr_expansion_add(term, x);
            bigint_add_double(&rest, x);
            bigint_add_double(&rest, -dropped);
        }
        for (int i = 0; i < CLR_EXPANSION_TERMS; i++)
            bigint_add_double(&rest, -term[i]);
        batch_ok(bigint_is_zero(&rest), "round %d, spread %d", round, spread);
    }
    batch_end("what an expansion holds and drops");
}

static void check_round(const double term[CLR_EXPANSION_TERMS])
{
    batch_double(clr_expansion_round(term), exact_sum(term, CLR_EXPANSION_TERMS), "%a %a %a",
                 term[0], term[1], term[2]);
}

/* In every order: the terms of an expansion need not be sorted. */
static void check_orders(double a, double b, double c)
{
    check_round((double[]){a, b, c});
    check_round((double[]){a, c, b});
    check_round((double[]){b, a, c});
    check_round((double[]){b, c, a});
    check_round((double[]){c, a, b});
    check_round((double[]){c, b, a});
}

/*
 * Every combination of hard significands with hard distances: b is half a unit of a's last place
 * or beside it (a tie unless c decides), c a tie of b's or far below. The two exponents are those
 * of an ordinary number and of the smallest normal one, where the last places are subnormal.
 */
TAP_TEST(test_ties)
{
    static const uint64_t significands[] = {
        0, 1, 2, 3, 0xfffffffffffff, 0xffffffffffffe, 0x8000000000000, 0x7ffffffffffff};
    static const int distances[] = {50, 51, 52, 53, 54, 55, 56, 105, 106, 107, 108, 160, 1000};
    static const uint64_t exponents[] = {1, 2, 53, 54, 110, 1023};
    enum { SIGNIFICANDS = 8, DISTANCES = 13, EXPONENTS = 6 };

    for (int i = 0; i < SIGNIFICANDS; i++) {
        for (int j = 0; j < EXPONENTS; j++) {
            double a = random_compose(0, exponents[j], significands[i]);
            for (int k = 0; k < DISTANCES; k++) {
                for (int l = 0; l < DISTANCES; l++) {
                    for (int sign = 0; sign < 4; sign++) {
                        double b =
                            ldexp(sign & 1 ? -1 : 1, (int)exponents[j] - 1023 - distances[k]);
                        double c = ldexp(sign & 2 ? -b : b, -distances[l]);
                        for (int m = 1; m <= 3; m += 2)
                            check_round((double[]){a, m * b, c});
                        if (l == 0)
                            check_orders(a, b, c);
                    }
                }
            }
        }
    }
    batch_end("ties, and what decides them");
}

TAP_TEST(test_round)
{
    for (int i = 0; i < batch_rounds(2000); i++) {
        int exponent = random_between(0, 2000);
        int near = exponent > 60 ? exponent - 60 : 0;
        check_orders(random_hard(near, exponent), random_hard(near, exponent),
                     random_hard(near, exponent));
        check_orders(random_hard(0, 2000), random_hard(0, 2000), random_hard(0, 2000));
    }
    batch_end("any three terms");

    for (int i = 0; i < batch_rounds(2000); i++) {
        double a = random_hard(200, 2000), b = -a, c;
        uint64_t bits;

        memcpy(&bits, &b, sizeof bits);
        bits += (uint64_t)random_between(-2, 2);
        memcpy(&b, &bits, sizeof bits);
        c = ldexp(a, -random_between(1, 110));
        check_orders(a, b, c);
        check_orders(a, b, -c);
        check_orders(a, -a, random_hard(0, 100));
    }
    batch_end("cancellation");

    for (int i = 0; i < batch_rounds(2000); i++)
        check_orders(random_hard(0, 2), random_hard(0, 2), random_hard(0, 1));
    batch_end("subnormals");
}

TAP_TEST(test_zeros)
{
    tap_is_double(clr_expansion_round((double[]){0.0, 0.0, 0.0}), 0.0, "nothing is +0.0");
    tap_is_double(clr_expansion_round((double[]){-0.0, 0.0, 0.0}), 0.0, "-0.0 is +0.0");
    tap_is_double(clr_expansion_round((double[]){-0.0, -0.0, -0.0}), 0.0, "so are three of them");
    tap_is_double(clr_expansion_round((double[]){1.0, -1.0, -0.0}), 0.0, "1 - 1 is +0.0");
    tap_is_double(clr_expansion_round((double[]){-0x1p-1074, 0.0, 0x1p-1074}), 0.0,
                  "so is a subnormal less itself");
    tap_is_double(clr_expansion_round((double[]){0.0, 0.0, -0x1p-1074}), -0x1p-1074,
                  "the last term alone");
}

/* Odd rounding, from its definition: exact, or a neighbour with an odd significand. */
TAP_TEST(test_to_odd)
{
    for (int i = 0; i < batch_rounds(20000); i++) {
        double a = random_hard(1, 2000), error, sum;
        double b = i % 2 ? random_hard(1, 2000) : ldexp(a, -random_between(0, 60)) * -1.25;
        double odd = clr_add_to_odd(a, b);
        uint64_t bits;

        sum = clr_two_sum(a, b, &error);
        memcpy(&bits, &odd, sizeof bits);
        if (error == 0.0)
            batch_double(odd, sum, "exact: %a + %a", a, b);
        else
            batch_ok((bits & 1) &&
                         (odd == sum || odd == nextafter(sum, error > 0 ? INFINITY : -INFINITY)),
                     "%a + %a gave %a", a, b, odd);
    }
    batch_end("rounding to odd");
}
