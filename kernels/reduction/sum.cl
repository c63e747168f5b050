/* The sum of x, exactly. Follows exact.cl, window.cl or integer.cl. */
#if REAL
void wide_take(__local uint *wide, element x, element y)
{
    wide_add(wide, as_ulong(x));
}
#endif

#if REAL && DOUBLES

void running_take(running *sum, double x, double y, __local uint *wide)
{
    sum->steps++;
    if (!IS_TAKEN_BY(sum, x)) {
        wide_take(wide, x, y);
        running_went_wide(sum);
        return;
    }
    running_add(sum, x, wide);
}

#elif REAL

/* Returns the exponent of a finite value, else 0. */
uint window_wanted(long x, long y)
{
    return IS_FINITE(as_ulong(x)) ? EXPONENT(x) : 0;
}

/* Whether a value that is not 0 is outside the window. */
#undef IS_OUTSIDE
#define IS_OUTSIDE(bits, begin) ((EXPONENT(bits) - (begin) > WINDOW) & !IS_ZERO(bits))

void running_take(running *sum, long x, long y, __local uint *wide)
{
    ulong bits = as_ulong(x);

    sum->steps++;
    if (IS_OUTSIDE(bits, sum->begin) &&
        (!running_miss(sum, window_wanted(x, y), wide) || IS_OUTSIDE(bits, sum->begin)))
        wide_take(wide, x, y);
    else
        running_add(sum, IS_ZERO(bits) ? 0 : SIGNIFICAND(bits), 0, EXPONENT(bits) - sum->begin,
                    as_ulong(x >> 63));
}

#else

/* The high part is the sign alone, and 2^31 values do not leave 128 bits: it can wait. */
void running_take(running *sum, long x, long y)
{
    ulong low = as_ulong(x);

    sum->low += low;
    sum->middle += as_ulong(x >> 63) + (sum->low < low);
    sum->high = as_ulong(as_long(sum->middle) >> 63);
}

#endif
