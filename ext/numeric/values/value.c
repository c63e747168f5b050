#include "numeric/values/value.h"

static int64_t key(double real)
{
    return clr_real_to_key(clr_bits_of(real));
}

/* Compares exactly: a double of 2^63 or more is past every integer, and a smaller one's integer
   part fits into one. */
static int compare_integer_real(int64_t integer, double real)
{
    int64_t whole;

    if (real >= 0x1p63)
        return -1;
    if (real < -0x1p63)
        return 1;
    whole = (int64_t)real;
    if (integer != whole)
        return integer < whole ? -1 : 1;
    real -= (double)whole;
    return real > 0 ? -1 : real < 0;
}

int clr_value_compare(const struct clr_value *a, const struct clr_value *b, int preferred_sign)
{
    int order;

    if (a->kind == CLR_KIND_INTEGER && b->kind == CLR_KIND_INTEGER)
        return (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);
    if (a->kind == CLR_KIND_REAL && b->kind == CLR_KIND_REAL) {
        int64_t x = key(a->as.real), y = key(b->as.real);
        return (x > y) - (x < y);
    }
    if (a->kind <= CLR_KIND_REAL && b->kind <= CLR_KIND_REAL) {
        if (a->kind == CLR_KIND_INTEGER) {
            order = compare_integer_real(a->as.integer, b->as.real);
            return order != 0 ? order : preferred_sign;
        }
        order = compare_integer_real(b->as.integer, a->as.real);
        return order != 0 ? -order : -preferred_sign;
    }
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    order = 0;
    if (a->as.size != 0 && b->as.size != 0)
        order = memcmp(a->bytes, b->bytes, a->as.size < b->as.size ? a->as.size : b->as.size);
    if (order != 0)
        return order;
    return (a->as.size > b->as.size) - (a->as.size < b->as.size);
}
