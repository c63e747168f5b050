#include "sqlite/views/parameter_sets.h"

#include <string.h>

/* Sets that are kept; rows of one, which no SELECT will ever have; the slots at first. */
enum { MOST_SETS = 65536, ROW_BITS = 40, FIRST_SLOTS = 16 };

#define BY_HASH ((sqlite3_uint64)1 << 62)

/* Odd numbers whose bits look random; splitmix64's. */
#define FACTOR_1 0xbf58476d1ce4e5b9u
#define FACTOR_2 0x94d049bb133111ebu

struct clr_parameter_set {
    sqlite3_uint64 hash, number, size;
    unsigned char bytes[];
};

/* Every value is its type, its length in bytes and its bytes: no two sets look alike. */
static sqlite3_uint64 write_values(sqlite3_value *const *values, int count, unsigned char *to)
{
    sqlite3_uint64 size = 0;
    int i;

    for (i = 0; i < count; i++) {
        unsigned char type =
            (unsigned char)(values[i] == NULL ? SQLITE_NULL : sqlite3_value_type(values[i]));
        sqlite3_int64 integer = 0;
        double real;
        const void *bytes = &integer;
        sqlite3_uint64 length = type == SQLITE_NULL ? 0 : sizeof integer;

        if (type == SQLITE_INTEGER) {
            integer = sqlite3_value_int64(values[i]);
        } else if (type == SQLITE_FLOAT) {
            real = sqlite3_value_double(values[i]);
            memcpy(&integer, &real, sizeof real);
        } else if (type != SQLITE_NULL) {
            bytes = sqlite3_value_blob(values[i]); /* is to be asked for before the size */
            length = (sqlite3_uint64)sqlite3_value_bytes(values[i]);
        }
        if (to != NULL) {
            to[size] = type;
            memcpy(to + size + 1, &length, sizeof length);
            if (length > 0)
                memcpy(to + size + 1 + sizeof length, bytes, length);
        }
        size += 1 + sizeof length + length;
    }
    return size;
}

static sqlite3_uint64 mix(sqlite3_uint64 value)
{
    value = (value ^ value >> 30) * FACTOR_1;
    value = (value ^ value >> 27) * FACTOR_2;
    return value ^ value >> 31;
}

static sqlite3_uint64 hash(sqlite3_uint64 seed, const unsigned char *bytes, sqlite3_uint64 size)
{
    sqlite3_uint64 result = mix(seed ^ size), word, length;

    for (; size > 0; size -= length, bytes += length) {
        length = size < sizeof word ? size : sizeof word;
        word = 0;
        memcpy(&word, bytes, length);
        result = mix(result ^ word) + seed;
    }
    return result;
}

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
    larger.slots = sqlite3_malloc64(larger.slot_count * sizeof *larger.slots);
    if (larger.slots == NULL)
        return SQLITE_NOMEM;
    memset(larger.slots, 0, larger.slot_count * sizeof *larger.slots);
    for (i = 0; i < sets->slot_count; i++) {
        if (sets->slots[i] != NULL)
            *find_slot(&larger, sets->slots[i]) = sets->slots[i];
    }
    sqlite3_free(sets->slots);
    *sets = larger;
    return SQLITE_OK;
}

int clr_parameter_sets_find(struct clr_parameter_sets *sets, sqlite3_value *const *values,
                            int count, sqlite3_uint64 *first)
{
    const sqlite3_uint64 size = write_values(values, count, NULL);
    struct clr_parameter_set *set = sqlite3_malloc64(sizeof *set + size), **slot;

    if (set == NULL || make_slots(sets) != SQLITE_OK) {
        sqlite3_free(set);
        return SQLITE_NOMEM;
    }
    if (sets->count == 0)
        sqlite3_randomness(sizeof sets->seed, &sets->seed);
    set->size = write_values(values, count, set->bytes);
    set->hash = hash(sets->seed, set->bytes, size);
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
