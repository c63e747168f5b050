/*
 * A REAL as two digits on a grid: what clr_window_cut() of ext/numeric/grouping/window.h does, to
 * the bit. Follows reals.cl, and is OpenCL C 1.2 as well as C99, as that is.
 *
 * All are the bits of doubles: the window's `high`, `low` and `limit` say where the grid is.
 * Returns whether x lies within the window; if not, the digits are anything.
 */
#if DOUBLES

static inline int real_cut(value_long x, value_long high_unit, value_long low_unit,
                           value_long limit, value_ulong *high, value_ulong *low)
{
    const double real = VALUE_REAL_OF(x);
    const double first = real + VALUE_REAL_OF(high_unit);
    const double rest = real - (first - VALUE_REAL_OF(high_unit));
    const double second = rest + VALUE_REAL_OF(low_unit);
    const double lost = rest - (second - VALUE_REAL_OF(low_unit));

    *high = (value_ulong)VALUE_BITS_OF(first) - (value_ulong)high_unit;
    *low = (value_ulong)VALUE_BITS_OF(second) - (value_ulong)low_unit;
    return fabs(real) < VALUE_REAL_OF(limit) && lost == 0.0;
}

#else

static inline int real_cut(value_long x, value_long high_unit, value_long low_unit,
                           value_long limit, value_ulong *high, value_ulong *low)
{
    const value_ulong sign = x < 0 ? ~(value_ulong)0 : 0;
    int exponent, behind, more;
    const value_ulong bits = real_take_apart(x, &exponent);
    value_ulong kept, lost;
    value_long rest;

    /* high_unit is 1.5 * 2^52 units of the high digit, whose exponent is so that of its lowest bit:
       the digit is to the nearest unit, and to even, as the addition of both rounds. */
    more = REAL_EXPONENT(high_unit) - 1075 - exponent;
    behind = more < 0 ? 0 : more > 54 ? 54 : more;
    kept = bits >> behind;
    kept = (bits + ((((value_ulong)1 << behind) - 1) >> 1) + (behind > 0 && (kept & 1))) >> behind;
    rest = (value_long)(bits - (kept << behind));
    kept <<= more < 0 ? -more & 63 : 0;
    /* The rest is a whole number of units of the low digit, if that has all of it. */
    more = REAL_EXPONENT(low_unit) - 1075 - exponent;
    behind = more < 0 ? 0 : more > 63 ? 63 : more;
    lost = (value_ulong)rest & (((value_ulong)1 << behind) - 1);
    rest = (value_long)((value_ulong)(rest >> behind) << (more < 0 ? -more & 63 : 0));
    *high = (kept ^ sign) - sign;
    *low = ((value_ulong)rest ^ sign) - sign;
    return REAL_SIZE(x) < (value_ulong)limit && lost == 0;
}

#endif
