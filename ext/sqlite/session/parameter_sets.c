#include "sqlite/session/parameter_sets.h"

#include "base/memory.h"
#include "numeric/values/bytes.h"
#include "sqlite/session/sql_value.h"

#include <string.h>

/* Sets that are kept; rows of one, which no SELECT will ever have; the slots at first. */
enum { MOST_SETS = 65536, ROW_BITS = 40, FIRST_SLOTS = 16 };

#define BY_HASH ((sqlite3_uint64)1 << 62)

struct clr_parameter_set {
    sqlite3_uint64 hash, number, size;
    unsigned char bytes[];
};

/* Returns the slot that has the set, or the one where it would be. */
static struct clr_parameter_set **find_slot(const struct clr_parameter_sets *sets,
                                            const struct clr_parameter_set *wanted)
{
    sqlite3_uint64 i = wanted->hash & (sets->slot_count - 1);

    for (;; i = (i + 1) & (sets->slot_count - 1)) {
        const struct clr_parameter_set *set = sets->slots[i];
        if (set == NULL || (set->hash == wanted->hash && set->size == wanted->size &&
                            memcmp(set->bytes, wanted->bytes, set->size) == 0))
            return &sets->slots[i];
    }
}

/* Sees to it that at most half of the slots are taken. */
static int make_slots(struct clr_parameter_sets *sets)
{
    struct clr_parameter_sets larger = *sets;
    sqlite3_uint64 i;

    if (sets->count * 2 < sets->slot_count)
        return SQLITE_OK;
    larger.slot_count = sets->slot_count == 0 ? FIRST_SLOTS : sets->slot_count * 2;
    larger.slots = clr_sqlite_alloc_zero(larger.slot_count * sizeof *larger.slots);
    if (larger.slots == NULL)
        return SQLITE_NOMEM;
    for (i = 0; i < sets->slot_count; i++) {
        if (sets->slots[i] != NULL)
            *find_slot(&larger, sets->slots[i]) = sets->slots[i];
    }
    sqlite3_free(sets->slots);
    *sets = larger;
    return SQLITE_OK;
}

int clr_parameter_set_find(struct clr_parameter_sets *sets, sqlite3_value *const *values, int count,
                           sqlite3_uint64 *first)
{
    const sqlite3_uint64 size = clr_values_write(values, count, NULL);
    struct clr_parameter_set *set = sqlite3_malloc64(sizeof *set + size), **slot;
    struct clr_value bytes = {.kind = CLR_KIND_BLOB, .as.size = size};

    if (set == NULL || make_slots(sets) != SQLITE_OK) {
        sqlite3_free(set);
        return SQLITE_NOMEM;
    }
    if (sets->count == 0)
        sqlite3_randomness(sizeof sets->seed, &sets->seed);
    set->size = clr_values_write(values, count, set->bytes);
    bytes.bytes = set->bytes;
    set->hash = clr_bytes_hash(&bytes, sets->seed);
    slot = find_slot(sets, set);
    if (*slot == NULL && sets->count < MOST_SETS) {
        set->number = sets->count++;
        *slot = set;
    } else {
        *first = BY_HASH | (set->hash & (BY_HASH - 1));
        sqlite3_free(set);
    }
    if (*slot != NULL)
        *first = (*slot)->number << ROW_BITS;
    return SQLITE_OK;
}

void clr_parameter_sets_clear(struct clr_parameter_sets *sets)
{
    sqlite3_uint64 i;

    for (i = 0; i < sets->slot_count; i++)
        sqlite3_free(sets->slots[i]);
    sqlite3_free(sets->slots);
    memset(sets, 0, sizeof *sets);
}
