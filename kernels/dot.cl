/* The sum of x * y, exactly. Follows exact.cl or integer.cl. */
#define OPERANDS 2

#define PADDING(value) 0

#if REAL

/*
 * TwoProduct with fma; where a product's error term might not be representable, the product goes
 * to the long accumulator by integers (0 times anything finite needs neither).
 */
void running_take(running *sum, lanes x, lanes y WIDE_FORMAL)
{
    lanes product = x * y;
    lanes size = fabs(product);

    if (ANY(!FITS_EXPANSION(product) || (size < PRODUCT_FLOOR && x != 0 && y != 0))) {
        double x_lane[LANES], y_lane[LANES];
        uint i;
        STORE_LANES(x, x_lane);
        STORE_LANES(y, y_lane);
        for (i = 0; i < LANES; i++)
            wide_add_product(wide, x_lane[i], y_lane[i]);
    } else {
        running_add(sum, product, wide);
        running_add(sum, fma(x, y, -product), wide);
    }
}

#else

void running_take(running *sum, lanes x, lanes y)
{
    lanes high = mul_hi(x, y);
    running_add(sum, AS_LANES_ULONG(x * y), AS_LANES_ULONG(high), AS_LANES_ULONG(high >> 63));
}

#endif
