#include "numeric/exact/operation.h"

const struct clr_term *clr_operation_terms(enum clr_operation operation, int *count)
{
    static const struct clr_term single[] = {
        {CLR_SUM, 0, 0}, {CLR_DOT, 0, 1}, {CLR_EXTREMES, 0, 0}};
    static const struct clr_term squares[] = {{CLR_SUM, 0, 0}, {CLR_DOT, 0, 0}};
    static const struct clr_term pairs[CLR_MOST_TERMS] = {
        {CLR_SUM, 1, 1}, {CLR_DOT, 1, 1}, {CLR_SUM, 0, 0}, {CLR_DOT, 0, 0}, {CLR_DOT, 0, 1}};

    *count = clr_operation_more(operation) + 1;
    if (operation == CLR_SQUARES)
        return squares;
    return operation == CLR_PAIRS ? pairs : &single[operation];
}
