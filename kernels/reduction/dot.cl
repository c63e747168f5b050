/* The sum of x * y, exactly. Follows exact.cl, window.cl or integer.cl. */

#undef PADDING
#define PADDING(value) 0

#if REAL
void wide_take(__local uint *wide, lanes x, lanes y)
{
    element x_lane[LANES], y_lane[LANES];
    uint i;

    STORE_LANES(x, x_lane);
    STORE_LANES(y, y_lane);
    for (i = 0; i < LANES; i++)
        wide_add_product(wide, as_ulong(x_lane[i]), as_ulong(y_lane[i]));
}
#endif

#if REAL && DOUBLES

/*
 * TwoProduct with fma; where a product's error term might not be representable, the product goes
 * to the long accumulator by integers (0 times anything finite needs neither).
 */
void running_take(running *sum, lanes x, lanes y WIDE_FORMAL)
{
    lanes product = x * y;

#if LANES == 1
    sum->steps++;
    if (!IS_TAKEN_BY(sum, product) ||
        (!FITS_PRODUCT(product) && IS_NOT_ZERO(x) && IS_NOT_ZERO(y))) {
        wide_take(wide, x, y);
        running_went_wide(sum);
        return;
    }
#else
    if (ANY(!FITS_PRODUCT(product))) {
        if (ANY(!FITS_EXPANSION(product) | (IS_NOT_ZERO(x) & IS_NOT_ZERO(y)))) {
            wide_take(wide, x, y);
            return;
        }
    }
#endif
    running_add_pair(sum, product, fma(x, y, -product), wide);
}

#if LANES > 1
/* Whether the error of x * y might not be representable. */
lanes_long underflows(lanes x, lanes y)
{
    return (fabs(x * y) < PRODUCT_FLOOR) & (x != 0) & (y != 0);
}

void block_take(block *b, lanes x, lanes y)
{
    lanes product = x * y, size = fabs(product), error;

    b->squares = fma(product, product, b->squares);
    b->least = size < b->least ? size : b->least;
    FAST_TWO_SUM(b->number[0], product, error);
    FAST_TWO_SUM(b->number[1], error, error);
    ADD_LAST(b->number[2], error, b->dropped);
    error = fma(x, y, -product);
    FAST_TWO_SUM(b->number[1], error, error);
    ADD_LAST(b->number[2], error, b->dropped);
}

lanes_long running_take_carefully(running *sum, lanes x, lanes y)
{
    lanes product = x * y;
    lanes_long dropped = !FITS_EXPANSION(product) | underflows(x, y);

    EXPANSION_ADD(sum, product, dropped);
    EXPANSION_ADD(sum, fma(x, y, -product), dropped);
    return dropped;
}
#endif

#elif REAL

/* Returns the greatest exponent of products of two normal numbers. */
uint window_wanted(lanes x, lanes y)
{
    long x_lane[LANES], y_lane[LANES];
    uint exponent = 0, i;

    STORE_LANES(x, x_lane);
    STORE_LANES(y, y_lane);
    for (i = 0; i < LANES; i++) {
        uint a = (uint)(x_lane[i] >> 52) & 0x7ff, b = (uint)(y_lane[i] >> 52) & 0x7ff;

        if (a - 1 < 0x7fe && b - 1 < 0x7fe)
            exponent = max(exponent, a + b);
    }
    return exponent;
}

/* Whether a product is outside the window, or one of numbers that are not normal: only 0 times what
   is finite is not. */
#undef IS_OUTSIDE
#define IS_OUTSIDE(a, b, begin)                                                                    \
    ((EXPONENT(a) == 0x7ff) | (EXPONENT(b) == 0x7ff) |                                             \
     (((EXPONENT(a) + EXPONENT(b) - (begin) > WINDOW) | (EXPONENT(a) == 0) | (EXPONENT(b) == 0)) & \
      !(IS_ZERO(a) | IS_ZERO(b))))

void running_take(running *sum, lanes x, lanes y WIDE_FORMAL)
{
    lanes_ulong a = AS_LANES_ULONG(x), b = AS_LANES_ULONG(y);
    lanes_ulong a_part = KEPT_IF(!(IS_ZERO(a) | IS_ZERO(b)), SIGNIFICAND(a));
    lanes_ulong b_part = SIGNIFICAND(b);

    sum->steps++;
    if (ANY(IS_OUTSIDE(a, b, sum->begin)) &&
        (!running_miss(sum, window_wanted(x, y), wide) || ANY(IS_OUTSIDE(a, b, sum->begin))))
        wide_take(wide, x, y);
    else
        running_add(sum, a_part * b_part, mul_hi(a_part, b_part),
                    EXPONENT(a) + EXPONENT(b) - sum->begin, AS_LANES_ULONG((x ^ y) >> 63));
}

#else

void running_take(running *sum, lanes x, lanes y)
{
    lanes high = mul_hi(x, y);
    running_add(sum, AS_LANES_ULONG(x * y), AS_LANES_ULONG(high), AS_LANES_ULONG(high >> 63));
}

#endif
