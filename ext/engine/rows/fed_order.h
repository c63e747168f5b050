/*
 * The order of numbers that are kept as rows bring them: their blocks go to a device as they fill,
 * in the background, so that next to nothing is left to be sent when the answer is wanted. The
 * store keeps them all the same: whenever there is no answer, the host finds it. One thread at a
 * time uses each of these.
 */
#ifndef CLR_ENGINE_FED_ORDER_H
#define CLR_ENGINE_FED_ORDER_H

#include "base/settings.h"
#include "base/stats.h"
#include "engine/operations/resident_order.h"
#include "numeric/order/kept.h"

struct clr_ordering;

/* What a store has sent. All zeros at first. */
struct clr_fed_order {
    struct clr_ordering *ordering;     /* on the device; NULL: none has been begun */
    const struct clr_kept_block *sent; /* the newest block that was sent */
    uint64_t count;                    /* of the numbers that were offered */
    bool given_up;                     /* for these numbers, for good */
};

/*
 * Offers what is new in the store to a device: to be called whenever a block is full, before room
 * is made. Nothing happens unless the settings allow a device, clr_choose_device() finds one that
 * is worth it, and all numbers are of one type. Never waits.
 */
void clr_fed_order_offer(struct clr_fed_order *fed, struct clr_kept *kept,
                         const struct clr_feed *feed, const struct clr_settings *settings);

/*
 * Answers for all numbers in the store, once: sends what is left, has the device sort, and waits
 * for at most the device_timeout of the settings, or until the watch, which may be NULL, wants a
 * stop. Returns whether order has the answer. If not, that may be because of a failure, which is in
 * stats; so is what was done. The numbers are of one type then, that of the store's first ones.
 */
bool clr_fed_order_ask(struct clr_fed_order *fed, struct clr_kept *kept,
                       const struct clr_feed *feed, const struct clr_settings *settings,
                       const struct clr_watch *watch, struct clr_stats *stats,
                       struct clr_order *order);

/* Gives the device's memory back, without waiting, and leaves all zeros. The store may be cleared
   before or after. */
void clr_fed_order_end(struct clr_fed_order *fed);

#endif
