/* The sum of x * y, exactly. Follows exact.cl, window.cl or integer.cl. */

#if REAL
void wide_take(__local uint *wide, element x, element y)
{
    wide_add_product(wide, as_ulong(x), as_ulong(y));
}
#endif

#if REAL && DOUBLES

/*
 * TwoProduct with fma; where a product's error term might not be representable, the product goes
 * to the long accumulator by integers (0 times anything finite needs neither).
 */
void running_take(running *sum, double x, double y, __local uint *wide)
{
    double product = x * y;

    sum->steps++;
    if (!IS_TAKEN_BY(sum, product) ||
        (!FITS_PRODUCT(product) && IS_NOT_ZERO(x) && IS_NOT_ZERO(y))) {
        wide_take(wide, x, y);
        running_went_wide(sum);
        return;
    }
    running_add_pair(sum, product, fma(x, y, -product), wide);
}

#elif REAL

/* Returns the exponent of a product of two normal numbers, else 0. */
uint window_wanted(long x, long y)
{
    uint a = EXPONENT(x), b = EXPONENT(y);

    return a - 1 < 0x7fe && b - 1 < 0x7fe ? a + b : 0;
}

/* Whether a product is outside the window, or one of numbers that are not normal: only 0 times what
   is finite is not. */
#undef IS_OUTSIDE
#define IS_OUTSIDE(a, b, begin)                                                                    \
    ((EXPONENT(a) == 0x7ff) | (EXPONENT(b) == 0x7ff) |                                             \
     (((EXPONENT(a) + EXPONENT(b) - (begin) > WINDOW) | (EXPONENT(a) == 0) | (EXPONENT(b) == 0)) & \
      !(IS_ZERO(a) | IS_ZERO(b))))

void running_take(running *sum, long x, long y, __local uint *wide)
{
    ulong a = as_ulong(x), b = as_ulong(y);
    ulong a_part = (IS_ZERO(a) | IS_ZERO(b)) ? 0 : SIGNIFICAND(a);
    ulong b_part = SIGNIFICAND(b);

    sum->steps++;
    if (IS_OUTSIDE(a, b, sum->begin) &&
        (!running_miss(sum, window_wanted(x, y), wide) || IS_OUTSIDE(a, b, sum->begin)))
        wide_take(wide, x, y);
    else
        running_add(sum, a_part * b_part, mul_hi(a_part, b_part),
                    EXPONENT(a) + EXPONENT(b) - sum->begin, as_ulong((x ^ y) >> 63));
}

#else

void running_take(running *sum, long x, long y)
{
    long high = mul_hi(x, y);
    running_add(sum, as_ulong(x * y), as_ulong(high), as_ulong(high >> 63));
}

#endif
