/* The sum of x, exactly. Follows exact.cl, window.cl or integer.cl. */
#undef PADDING
#define PADDING(value) 0

#if REAL
void wide_take(__local uint *wide, lanes x, lanes y)
{
    element lane[LANES];
    uint i;

    STORE_LANES(x, lane);
    for (i = 0; i < LANES; i++)
        wide_add(wide, as_ulong(lane[i]));
}
#endif

#if REAL && DOUBLES

void running_take(running *sum, lanes x, lanes y WIDE_FORMAL)
{
#if LANES == 1
    sum->steps++;
    if (!IS_TAKEN_BY(sum, x)) {
        wide_take(wide, x, y);
        running_went_wide(sum);
        return;
    }
#else
    if (ANY(!FITS_EXPANSION(x))) {
        wide_take(wide, x, y);
        return;
    }
#endif
    running_add(sum, x, wide);
}

#if LANES > 1
lanes_long underflows(lanes x, lanes y)
{
    return 0;
}

void block_take(block *b, lanes x, lanes y)
{
    lanes error;

    b->squares = fma(x, x, b->squares);
    FAST_TWO_SUM(b->number[0], x, error);
    ADD_LAST(b->number[1], error, b->dropped);
}

lanes_long running_take_carefully(running *sum, lanes x, lanes y)
{
    lanes_long dropped = !FITS_EXPANSION(x);

    EXPANSION_ADD(sum, x, dropped);
    return dropped;
}
#endif

#elif REAL

/* Returns the greatest exponent of finite values. */
uint window_wanted(lanes x, lanes y)
{
    long lane[LANES];
    uint exponent = 0, i;

    STORE_LANES(x, lane);
    for (i = 0; i < LANES; i++) {
        if (IS_FINITE(as_ulong(lane[i])))
            exponent = max(exponent, (uint)(lane[i] >> 52) & 0x7ff);
    }
    return exponent;
}

/* Whether a value that is not 0 is outside the window. */
#undef IS_OUTSIDE
#define IS_OUTSIDE(bits, begin) ((EXPONENT(bits) - (begin) > WINDOW) & !IS_ZERO(bits))

void running_take(running *sum, lanes x, lanes y WIDE_FORMAL)
{
    lanes_ulong bits = AS_LANES_ULONG(x);

    sum->steps++;
    if (ANY(IS_OUTSIDE(bits, sum->begin)) &&
        (!running_miss(sum, window_wanted(x, y), wide) || ANY(IS_OUTSIDE(bits, sum->begin))))
        wide_take(wide, x, y);
    else
        running_add(sum, KEPT_IF(!IS_ZERO(bits), SIGNIFICAND(bits)), 0, EXPONENT(bits) - sum->begin,
                    AS_LANES_ULONG(x >> 63));
}

#else

/* The high part is the sign alone, and 2^31 values do not leave 128 bits: it can wait. */
void running_take(running *sum, lanes x, lanes y)
{
    lanes_ulong low = AS_LANES_ULONG(x);

    sum->low += low;
    sum->middle += AS_LANES_ULONG(x >> 63) + ONE_IF(sum->low < low);
    sum->high = AS_LANES_ULONG(AS_LANES_LONG(sum->middle) >> 63);
}

#endif
