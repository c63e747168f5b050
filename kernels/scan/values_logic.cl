/*
 * The operators that compare values, say what is true of them, and choose between them: see
 * values.cl, which this follows.
 */

/* The order of an INTEGER and a REAL, exactly. Equal to the REAL's whole part, the INTEGER is
   either exact as a double, or the REAL has no other part. */
static inline int scalar_order_mixed(value_long integer, value_real real)
{
    value_long whole;

    if (REAL_LESS(real, VALUE_REAL_OF(VALUE_MINUS_2_63)))
        return 1;
    if (!REAL_LESS(real, VALUE_REAL_OF(VALUE_2_63)))
        return -1;
    whole = real_to_integer(real);
    if (integer != whole)
        return integer < whole ? -1 : 1;
    return REAL_LESS(real, REAL_OF_INTEGER(integer)) - REAL_LESS(REAL_OF_INTEGER(integer), real);
}

/* Returns a negative number, 0 or a positive one, which means nothing unless both are numbers. */
static inline int scalar_order(scalar a, scalar b)
{
    value_real x = VALUE_REAL_OF(a.bits), y = VALUE_REAL_OF(b.bits);

    if (a.tag == VALUE_INTEGER && b.tag == VALUE_INTEGER)
        return (a.bits > b.bits) - (a.bits < b.bits);
    if (a.tag == VALUE_INTEGER)
        return scalar_order_mixed(a.bits, y);
    if (b.tag == VALUE_INTEGER)
        return -scalar_order_mixed(b.bits, x);
    return REAL_LESS(y, x) - REAL_LESS(x, y);
}

static inline scalar scalar_equal(scalar a, scalar b)
{
    return scalar_found(a, b, scalar_order(a, b) == 0);
}

static inline scalar scalar_unequal(scalar a, scalar b)
{
    return scalar_found(a, b, scalar_order(a, b) != 0);
}

static inline scalar scalar_less(scalar a, scalar b)
{
    return scalar_found(a, b, scalar_order(a, b) < 0);
}

static inline scalar scalar_less_equal(scalar a, scalar b)
{
    return scalar_found(a, b, scalar_order(a, b) <= 0);
}

static inline scalar scalar_greater(scalar a, scalar b)
{
    return scalar_found(a, b, scalar_order(a, b) > 0);
}

static inline scalar scalar_greater_equal(scalar a, scalar b)
{
    return scalar_found(a, b, scalar_order(a, b) >= 0);
}

static inline scalar scalar_is(scalar a, scalar b)
{
    scalar result = scalar_equal(a, b);
    return result.tag == VALUE_NULL ? scalar_integer(a.tag == b.tag) : result;
}

static inline scalar scalar_is_not(scalar a, scalar b)
{
    scalar result = scalar_is(a, b);
    return result.tag == VALUE_INTEGER ? scalar_integer(!result.bits) : result;
}

static inline scalar scalar_is_null(scalar a)
{
    return a.tag == VALUE_UNSURE ? a : scalar_integer(a.tag == VALUE_NULL);
}

static inline scalar scalar_not_null(scalar a)
{
    return a.tag == VALUE_UNSURE ? a : scalar_integer(a.tag != VALUE_NULL);
}

/* Whether a filter lets the value pass: not for NULL. What is unknown is not true either: ask
   scalar_is_unknown() first. */
static inline int scalar_is_true(scalar a)
{
    return (a.tag == VALUE_INTEGER && a.bits != 0) ||
           (a.tag == VALUE_REAL && !REAL_IS_ZERO(VALUE_REAL_OF(a.bits)));
}

static inline int scalar_is_false(scalar a)
{
    return scalar_is_number(a.tag) && !scalar_is_true(a);
}

static inline scalar scalar_and(scalar a, scalar b)
{
    if (scalar_is_unknown(a) || scalar_is_unknown(b))
        return scalar_of(VALUE_UNSURE, 0);
    if (scalar_is_false(a) || scalar_is_false(b))
        return scalar_integer(0);
    return scalar_is_true(a) && scalar_is_true(b) ? scalar_integer(1) : scalar_of(VALUE_NULL, 0);
}

static inline scalar scalar_or(scalar a, scalar b)
{
    if (scalar_is_unknown(a) || scalar_is_unknown(b))
        return scalar_of(VALUE_UNSURE, 0);
    if (scalar_is_true(a) || scalar_is_true(b))
        return scalar_integer(1);
    return scalar_is_false(a) && scalar_is_false(b) ? scalar_integer(0) : scalar_of(VALUE_NULL, 0);
}

static inline scalar scalar_not(scalar a)
{
    if (scalar_is_unknown(a))
        return scalar_of(VALUE_UNSURE, 0);
    return a.tag == VALUE_NULL ? a : scalar_integer(!scalar_is_true(a));
}

static inline scalar scalar_if(scalar a, scalar b, scalar c)
{
    if (scalar_is_unknown(a))
        return scalar_of(VALUE_UNSURE, 0);
    return scalar_is_true(a) ? b : c;
}

static inline scalar scalar_coalesce(scalar a, scalar b)
{
    return a.tag == VALUE_NULL ? b : a;
}

/* The first of two numbers, or the second. */
static inline scalar scalar_chosen(scalar a, scalar b, int is_first)
{
    int kind = scalar_kind(a, b);
    return !scalar_is_number(kind) ? scalar_of(kind, 0) : is_first ? a : b;
}

static inline scalar scalar_least(scalar a, scalar b)
{
    return scalar_chosen(a, b, scalar_order(a, b) < 0);
}

static inline scalar scalar_greatest(scalar a, scalar b)
{
    return scalar_chosen(a, b, scalar_order(a, b) >= 0);
}
