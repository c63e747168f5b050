/* The sum of x, exactly. Follows exact.cl or integer.cl. */
#define PADDING(value) 0

#if REAL

void running_take(running *sum, lanes x, lanes y WIDE_FORMAL)
{
    if (ANY(!FITS_EXPANSION(x))) {
        double lane[LANES];
        uint i;
        STORE_LANES(x, lane);
        for (i = 0; i < LANES; i++)
            wide_add(wide, lane[i]);
    } else {
        running_add(sum, x, wide);
    }
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
