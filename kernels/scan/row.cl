/*
 * One step's row, which has passed the filter: evaluates its expressions. Follows counts.cl, and
 * the text that ext/opencl/scan/row_text.c makes, which defines:
 *
 * ROW_VALUES: the row's values of the columns, the lookups' buffers and the constants' bits, as
 * formal parameters
 * ROW_BODY: declarations of the registers, from those and AT(column)
 * ROW_OWN_FILTER, ROW_X, ROW_Y: registers, or scalar_integer(1) where there is none
 * ROW_BASE: what is taken from an INTEGER x
 * ROW_TAKES: 0 if rows are counted and nothing else
 */
#undef AT
#define AT(array) array

/* What is no number can be counted, and nothing else. */
#define ROW_UNSURE_FROM (ROW_TAKES ? VALUE_BYTES : VALUE_UNSURE)

/* Returns what a row is, and its operands if it is ROW_TAKEN. */
uint look_at_row(ROW_VALUES element *x, element *y)
{
    ROW_BODY
    scalar own_filter = ROW_OWN_FILTER, x_value = ROW_X, y_value = ROW_Y;
    int integers = x_value.tag == VALUE_INTEGER && y_value.tag == VALUE_INTEGER;
    uint found = ROW_COUNTS;

    *x = *y = 0;
    if (scalar_is_unknown(own_filter))
        return ROW_UNSURE;
    if (!scalar_is_true(own_filter))
        return 0;
    /* In this order, which decides where one is NULL and the other unsure. */
    if (x_value.tag >= ROW_UNSURE_FROM || y_value.tag == VALUE_UNSURE)
        return ROW_UNSURE;
    if (x_value.tag == VALUE_NULL)
        return 0;
    if (y_value.tag >= ROW_UNSURE_FROM)
        return ROW_UNSURE;
    if (y_value.tag == VALUE_NULL)
        return 0;
    if (!integers)
        found |= ROW_IS_NO_INTEGER;
#if ROW_TAKES
#if OPERANDS == 2
    if (integers == !REAL)
        found |= ROW_TAKEN;
#else
    if (x_value.tag == (REAL || KEYS ? VALUE_REAL : VALUE_INTEGER))
        found |= ROW_TAKEN;
#endif
#if !REAL
    *x = x_value.bits - ROW_BASE;
    *y = y_value.bits;
#elif OPERANDS == 2
    if (!integers) {
        *x = take_factor(x_value, &found);
        *y = take_factor(y_value, &found);
    }
#else
    *x = VALUE_REAL_OF(x_value.bits);
#endif
#endif
    return found;
}
