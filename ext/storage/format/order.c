#include "storage/format/order.h"

static int64_t key_of(int64_t rowid)
{
    int64_t key = rowid & 0x7f;
    int shift;

    for (shift = 8; (rowid >>= 7) > 0; shift += 8)
        key |= ((rowid & 0x7f) | 0x80) << shift;
    return key;
}

bool clr_order_take(struct clr_order *order, int64_t rowid, bool is_first)
{
    if (!is_first && rowid <= clr_order_last(order))
        return false;
    order->rowid = rowid;
    if (rowid < 0)
        order->least = 0;
    else
        order->least = rowid >> (7 * CLR_ORDER_SHORT) > 0 ? INT64_MAX : key_of(rowid) + 1;
    return true;
}
