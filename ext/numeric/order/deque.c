#include "numeric/order/deque.h"

#include <stdbool.h>
#include <string.h>

/* Values that are searched at a time. */
enum { PORTION = 1024 };

struct clr_deque_bytes {
    size_t size;
    unsigned char byte[];
};

void clr_deque_init(struct clr_deque *deque, int sign, struct clr_budget *budget)
{
    *deque = (struct clr_deque){.sign = sign, .capacity = CLR_DEQUE_FIRST, .budget = budget};
    deque->ring = deque->few;
    deque->last.limit = UINT64_MAX;
}

/* ---- Entries. */

static struct clr_deque_entry *entry_at(const struct clr_deque *deque, size_t i)
{
    return &deque->ring[(deque->first + i) & (deque->capacity - 1)];
}

static enum clr_kind kind_of(const struct clr_deque_entry *entry)
{
    return (enum clr_kind)(entry->number_and_kind & 7);
}

static struct clr_deque_bytes *bytes_of(const struct clr_deque_entry *entry)
{
    return kind_of(entry) >= CLR_KIND_TEXT ? (struct clr_deque_bytes *)(intptr_t)entry->bits : NULL;
}

static struct clr_value value_of(const struct clr_deque_entry *entry)
{
    const struct clr_deque_bytes *bytes = bytes_of(entry);
    struct clr_value value = {.kind = kind_of(entry), .as.integer = entry->bits};

    /* An empty value, too, has an address: SQLite takes TEXT without one for NULL. */
    if (bytes != NULL) {
        value.as.size = bytes->size;
        value.bytes = bytes->byte;
    }
    return value;
}

/* Returns the budget that bytes count towards. */
static struct clr_budget *budget_of(struct clr_deque *deque)
{
    return deque->lost == CLR_OK ? deque->budget : &deque->last;
}

static size_t bytes_size(size_t size)
{
    return sizeof(struct clr_deque_bytes) + size;
}

static void free_bytes(struct clr_deque *deque, struct clr_deque_bytes *bytes)
{
    if (bytes != NULL)
        clr_budget_free(budget_of(deque), bytes, bytes_size(bytes->size));
}

static void drop_last(struct clr_deque *deque)
{
    free_bytes(deque, bytes_of(entry_at(deque, --deque->count)));
}

static void free_ring(struct clr_deque *deque)
{
    if (deque->ring != deque->few)
        clr_budget_free(deque->budget, deque->ring, deque->capacity * sizeof *deque->ring);
    deque->ring = deque->few;
    deque->capacity = CLR_DEQUE_FIRST;
    deque->first = 0;
}

void clr_deque_free(struct clr_deque *deque)
{
    while (deque->count > 0)
        drop_last(deque);
    free_ring(deque);
}

/* ---- Values come. */

/* Goes on with the front alone, whose bytes are out of the budget from here on. */
static void lose(struct clr_deque *deque, enum clr_code why)
{
    struct clr_deque_bytes *bytes;
    struct clr_deque_entry front;

    while (deque->count > 1)
        drop_last(deque);
    deque->lost = why;
    if (deque->count == 0) {
        free_ring(deque);
        return;
    }
    front = *entry_at(deque, 0);
    free_ring(deque);
    deque->few[0] = front;
    bytes = bytes_of(&front);
    if (bytes != NULL) {
        clr_budget_hand_over(deque->budget, bytes_size(bytes->size));
        deque->last.used += bytes_size(bytes->size);
    }
}

static enum clr_code grow(struct clr_deque *deque)
{
    size_t i, capacity = 2 * deque->capacity;
    struct clr_deque_entry *ring;
    void *memory;
    enum clr_code code = clr_budget_alloc(deque->budget, capacity * sizeof *ring, &memory);

    if (code != CLR_OK)
        return code;
    ring = memory;
    for (i = 0; i < deque->count; i++)
        ring[i] = *entry_at(deque, i);
    free_ring(deque);
    deque->ring = ring;
    deque->capacity = capacity;
    return CLR_OK;
}

/* Stores a copy of the value's bytes. */
static enum clr_code copy_bytes(struct clr_deque *deque, const struct clr_value *value,
                                struct clr_deque_bytes **copy)
{
    struct clr_deque_bytes *bytes;
    const size_t size = value->as.size;
    void *memory;
    const enum clr_code code = clr_budget_alloc(budget_of(deque), bytes_size(size), &memory);

    if (code != CLR_OK)
        return code;
    bytes = memory;
    bytes->size = size;
    if (size != 0)
        memcpy(bytes->byte, value->bytes, size);
    *copy = bytes;
    return CLR_OK;
}

/* What is no better than the newcomer leaves before it, and so will never be the extreme. */
static void drop_worse(struct clr_deque *deque, const struct clr_value *value)
{
    const int sign = deque->sign;

    while (deque->count > 0) {
        struct clr_value last = value_of(entry_at(deque, deque->count - 1));
        if (clr_value_compare(&last, value, sign) * sign > 0)
            break;
        drop_last(deque);
    }
}

/* Adds a value that is worse than all entries, and so is not needed where only the front is. */
static enum clr_code append(struct clr_deque *deque, const struct clr_value *value, uint64_t number)
{
    struct clr_deque_entry entry = {value->as.integer, number << 3 | (uint64_t)value->kind};
    struct clr_deque_bytes *bytes;
    enum clr_code code = CLR_OK;

    if (deque->lost != CLR_OK && deque->count > 0)
        return CLR_OK;
    if (deque->count == deque->capacity)
        code = grow(deque);
    if (code == CLR_OK && value->kind >= CLR_KIND_TEXT) {
        code = copy_bytes(deque, value, &bytes);
        if (code == CLR_OK)
            entry.bits = (int64_t)(intptr_t)bytes;
    }
    if (code == CLR_OK)
        *entry_at(deque, deque->count++) = entry;
    return code;
}

/* The same, whatever the budget allows. */
static enum clr_code enter(struct clr_deque *deque, const struct clr_value *value, uint64_t number)
{
    enum clr_code code = append(deque, value, number);

    if (code == CLR_OK || deque->lost != CLR_OK)
        return code;
    lose(deque, code);
    return append(deque, value, number);
}

enum clr_code clr_deque_push(struct clr_deque *deque, const struct clr_value *value)
{
    drop_worse(deque, value);
    return enter(deque, value, deque->arrived++);
}

/* Stores the places of the numbers that are better than all that follow, the last one first, and
   returns how many they are; is_real and sign are constants where this is inlined. */
static inline size_t find_better(const int64_t *bits, size_t count, bool is_real, int sign,
                                 uint16_t *found)
{
    int64_t best = is_real ? clr_real_to_key(bits[count - 1]) : bits[count - 1], key;
    double best_real = clr_real_of(bits[count - 1]);
    size_t i, many = 1;

    found[0] = (uint16_t)(count - 1);
    for (i = count - 1; i-- > 0;) {
        /* Keys cost more to compare; but of equal zeros they alone differ. */
        if (is_real &&
            !(sign > 0 ? clr_real_of(bits[i]) >= best_real : clr_real_of(bits[i]) <= best_real))
            continue;
        key = is_real ? clr_real_to_key(bits[i]) : bits[i];
        if (sign > 0 ? key > best : key < best) {
            best = key;
            best_real = clr_real_of(bits[i]);
            found[many++] = (uint16_t)i;
        }
    }
    return many;
}

/* Pushes those of a portion's numbers, bits of the kind, that were found; a number needs no memory
   for its bytes, and so cannot fail. */
static void push_found(struct clr_deque *deque, enum clr_kind kind, const int64_t *bits,
                       size_t count, const uint16_t *found, size_t many)
{
    struct clr_value value = {.kind = kind, .as.integer = bits[found[many - 1]]};
    size_t at;

    drop_worse(deque, &value);
    (void)enter(deque, &value, deque->arrived + found[--many]);
    while (deque->lost == CLR_OK && many > deque->capacity - deque->count) {
        enum clr_code code = grow(deque);
        if (code != CLR_OK)
            lose(deque, code);
    }
    if (deque->lost == CLR_OK) {
        at = deque->first + deque->count;
        deque->count += many;
        while (many-- > 0)
            deque->ring[at++ & (deque->capacity - 1)] = (struct clr_deque_entry){
                bits[found[many]], (deque->arrived + found[many]) << 3 | (uint64_t)kind};
    }
    deque->arrived += count;
}

void clr_deque_push_numbers(struct clr_deque *deque, enum clr_kind kind, const void *numbers,
                            size_t count)
{
    const int64_t *bits;
    int64_t copy[PORTION];
    uint16_t found[PORTION];
    size_t part, many;

    for (; count > 0; count -= part, numbers = (const int64_t *)numbers + part) {
        part = count < PORTION ? count : PORTION;
        bits = kind == CLR_KIND_REAL ? memcpy(copy, numbers, part * sizeof *copy) : numbers;
        if (kind == CLR_KIND_REAL)
            many = deque->sign > 0 ? find_better(bits, part, true, 1, found)
                                   : find_better(bits, part, true, -1, found);
        else
            many = deque->sign > 0 ? find_better(bits, part, false, 1, found)
                                   : find_better(bits, part, false, -1, found);
        push_found(deque, kind, bits, part, found, many);
    }
}

/* ---- Values leave. */

enum clr_code clr_deque_shift(struct clr_deque *deque)
{
    if (deque->lost != CLR_OK)
        return deque->lost;
    if (deque->count > 0 && entry_at(deque, 0)->number_and_kind >> 3 == deque->left) {
        free_bytes(deque, bytes_of(entry_at(deque, 0)));
        deque->first = (deque->first + 1) & (deque->capacity - 1);
        deque->count--;
    }
    deque->left++;
    return CLR_OK;
}

const struct clr_value *clr_deque_front(struct clr_deque *deque)
{
    if (deque->count == 0)
        return NULL;
    deque->front = value_of(entry_at(deque, 0));
    return &deque->front;
}
