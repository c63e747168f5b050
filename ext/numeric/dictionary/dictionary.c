#include "numeric/dictionary/dictionary.h"

#include "base/memory.h"

/* A table is at most half full, so that a value's slot is near. */
enum { FIRST_ENTRIES = 16, FIRST_SLOTS = 64, SLOTS_PER_ENTRY = 2 };

/* The code of a value that is not there. */
static const uint32_t no_code = UINT32_MAX;

struct clr_dictionary *clr_dictionary_new(uint64_t seed, atomic_int_least64_t *left)
{
    static atomic_uint_least64_t ids;
    struct clr_dictionary *dictionary = clr_memory_alloc_zero(sizeof *dictionary);

    if (dictionary == NULL)
        return NULL;
    atomic_init(&dictionary->references, 1);
    dictionary->seed = seed;
    dictionary->id = atomic_fetch_add(&ids, 1) + 1;
    dictionary->bytes.left = left;
    dictionary->capacity = FIRST_ENTRIES;
    dictionary->slot_count = FIRST_SLOTS;
    dictionary->entries = clr_memory_alloc_zero(FIRST_ENTRIES * sizeof *dictionary->entries);
    dictionary->slots = clr_memory_alloc_zero(FIRST_SLOTS * sizeof *dictionary->slots);
    if (dictionary->entries == NULL || dictionary->slots == NULL) {
        clr_dictionary_release(dictionary);
        return NULL;
    }
    if (left != NULL)
        atomic_fetch_sub(left, (int64_t)clr_dictionary_size(dictionary));
    return dictionary;
}

struct clr_dictionary *clr_dictionary_new_view(struct clr_dictionary *dictionary)
{
    struct clr_dictionary *view = clr_memory_alloc_zero(sizeof *view);

    if (view == NULL)
        return NULL;
    atomic_init(&view->references, 1);
    view->count = dictionary->count;
    view->entries = dictionary->entries;
    view->bytes = dictionary->bytes;
    view->has_null = dictionary->has_null;
    view->slots = dictionary->slots;
    view->slot_count = dictionary->slot_count;
    view->seed = dictionary->seed;
    view->id = dictionary->id;
    view->viewed = clr_dictionary_retain(dictionary);
    return view;
}

struct clr_dictionary *clr_dictionary_retain(struct clr_dictionary *dictionary)
{
    if (dictionary != NULL)
        atomic_fetch_add(&dictionary->references, 1);
    return dictionary;
}

void clr_dictionary_release(struct clr_dictionary *dictionary)
{
    if (dictionary == NULL || atomic_fetch_sub(&dictionary->references, 1) > 1)
        return;
    if (dictionary->viewed != NULL) {
        clr_dictionary_release(dictionary->viewed);
    } else {
        clr_bytes_free(&dictionary->bytes);
        clr_memory_free(dictionary->entries);
        clr_memory_free(dictionary->slots);
    }
    clr_memory_free(dictionary);
}

/* ---- Growing. */

/* Takes memory from what is left. */
static bool take(struct clr_dictionary *dictionary, size_t size)
{
    atomic_int_least64_t *left = dictionary->bytes.left;

    if (left == NULL || atomic_fetch_sub(left, (int64_t)size) >= (int64_t)size)
        return true;
    atomic_fetch_add(left, (int64_t)size);
    return false;
}

static void give_back(struct clr_dictionary *dictionary, size_t size)
{
    if (dictionary->bytes.left != NULL)
        atomic_fetch_add(dictionary->bytes.left, (int64_t)size);
}

static enum clr_code grow_entries(struct clr_dictionary *dictionary, uint32_t capacity)
{
    const size_t size = (size_t)capacity * sizeof *dictionary->entries;
    const size_t more = size - dictionary->capacity * sizeof *dictionary->entries;
    struct clr_scalar *entries;

    if (!take(dictionary, more))
        return CLR_LIMIT;
    entries = clr_memory_realloc(dictionary->entries, size);
    if (entries == NULL) {
        give_back(dictionary, more);
        return CLR_NOMEM;
    }
    dictionary->entries = entries;
    dictionary->capacity = capacity;
    return CLR_OK;
}

static void put_slot(uint64_t *slots, size_t mask, uint64_t slot)
{
    size_t i = (size_t)(slot >> 32) & mask;

    while (slots[i] != 0)
        i = (i + 1) & mask;
    slots[i] = slot;
}

/* count: a power of two. */
static enum clr_code grow_slots(struct clr_dictionary *dictionary, size_t count)
{
    const size_t size = count * sizeof *dictionary->slots;
    uint64_t *slots;
    size_t i;

    if (!take(dictionary, size))
        return CLR_LIMIT;
    slots = clr_memory_alloc_zero(size);
    if (slots == NULL) {
        give_back(dictionary, size);
        return CLR_NOMEM;
    }
    for (i = 0; i < dictionary->slot_count; i++) {
        if (dictionary->slots[i] != 0)
            put_slot(slots, count - 1, dictionary->slots[i]);
    }
    clr_memory_free(dictionary->slots);
    give_back(dictionary, dictionary->slot_count * sizeof *dictionary->slots);
    dictionary->slots = slots;
    dictionary->slot_count = count;
    return CLR_OK;
}

enum clr_code clr_dictionary_reserve(struct clr_dictionary *dictionary, uint32_t count)
{
    const uint32_t twice = 2 * dictionary->capacity;
    enum clr_code code = CLR_OK;
    size_t slots = dictionary->slot_count;

    if (count > CLR_DICTIONARY_MOST || dictionary->viewed != NULL)
        return CLR_LIMIT;
    if (count > dictionary->capacity)
        code = grow_entries(dictionary, count > twice ? count : twice);
    while (slots < (size_t)count * SLOTS_PER_ENTRY)
        slots *= 2;
    return code == CLR_OK && slots > dictionary->slot_count ? grow_slots(dictionary, slots) : code;
}

/* ---- The hashes. */

static uint32_t hash_number(const struct clr_dictionary *dictionary, struct clr_scalar number)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = clr_bytes_fold((uint64_t)number.bits ^ dictionary->seed, factor + number.tag);

    return (uint32_t)(clr_bytes_fold(hash ^ factor, dictionary->seed | 1) >> 32);
}

uint32_t clr_dictionary_hash(const struct clr_dictionary *dictionary, enum clr_kind kind,
                             const void *bytes, size_t size)
{
    const struct clr_value value = {.kind = kind, .as.size = size, .bytes = bytes};

    return (uint32_t)(clr_bytes_hash(&value, dictionary->seed) >> 32);
}

/* Adds an entry, for which there is room. */
static void append(struct clr_dictionary *dictionary, struct clr_scalar entry, uint32_t hash,
                   uint32_t *code)
{
    *code = dictionary->last = dictionary->count++;
    dictionary->entries[*code] = entry;
    put_slot(dictionary->slots, dictionary->slot_count - 1, (uint64_t)hash << 32 | (*code + 1));
}

/* ---- Finding. */

/* Goes through the slots where a value may be: the number, if value is NULL. Returns its code, or
   no_code. Inlined, so that it is known which. */
static inline __attribute__((always_inline)) uint32_t
look_up(const struct clr_dictionary *dictionary, uint32_t hash, struct clr_scalar number,
        const struct clr_value *value)
{
    const uint64_t *slots = dictionary->slots;
    const size_t mask = dictionary->slot_count - 1;
    size_t i;

    for (i = hash & mask; slots[i] != 0; i = (i + 1) & mask) {
        const uint32_t code = (uint32_t)slots[i] - 1;
        const struct clr_scalar *entry = &dictionary->entries[code];

        if (slots[i] >> 32 == hash &&
            (value == NULL
                 ? entry->tag == number.tag && entry->bits == number.bits
                 : clr_dictionary_has_bytes(entry, value->kind, value->bytes, value->as.size)))
            return code;
    }
    return no_code;
}

/* Not inlined, so that what is found at once is none the slower. */
static __attribute__((noinline)) enum clr_code add_number(struct clr_dictionary *dictionary,
                                                          struct clr_scalar number, uint32_t hash,
                                                          uint32_t *code)
{
    enum clr_code result = clr_dictionary_reserve(dictionary, dictionary->count + 1);

    if (result != CLR_OK)
        return result;
    dictionary->has_null |= number.tag == CLR_TAG_NULL;
    append(dictionary, number, hash, code);
    return CLR_OK;
}

static __attribute__((noinline)) enum clr_code add_value(struct clr_dictionary *dictionary,
                                                         const struct clr_value *value,
                                                         uint32_t hash, uint32_t *code)
{
    struct clr_scalar entry = {.tag = CLR_TAG_BYTES};
    enum clr_code result = clr_dictionary_reserve(dictionary, dictionary->count + 1);
    unsigned char *to;

    if (result != CLR_OK)
        return result;
    to = clr_bytes_add(&dictionary->bytes, value->kind, value->as.size, &entry.bits);
    if (to == NULL) {
        result = dictionary->bytes.code;
        dictionary->bytes.code = CLR_OK;
        return result;
    }
    if (value->as.size > 0)
        memcpy(to, value->bytes, value->as.size);
    append(dictionary, entry, hash, code);
    return CLR_OK;
}

/* As clr_dictionary_find(), by the hash that the dictionary has for the number. */
static enum clr_code find_number(struct clr_dictionary *dictionary, struct clr_scalar number,
                                 uint32_t hash, uint32_t *code)
{
    const uint32_t found = look_up(dictionary, hash, number, NULL);

    if (found == no_code)
        return add_number(dictionary, number, hash, code);
    *code = dictionary->last = found;
    return CLR_OK;
}

enum clr_code clr_dictionary_find(struct clr_dictionary *dictionary, struct clr_scalar number,
                                  uint32_t *code)
{
    return find_number(dictionary, number, hash_number(dictionary, number), code);
}

enum clr_code clr_dictionary_find_hashed(struct clr_dictionary *dictionary, enum clr_kind kind,
                                         const void *bytes, size_t size, uint32_t hash,
                                         uint32_t *code)
{
    const struct clr_value value = {.kind = kind, .as.size = size, .bytes = bytes};
    const struct clr_scalar none = {0};
    const uint32_t found = look_up(dictionary, hash, none, &value);

    if (found == no_code)
        return add_value(dictionary, &value, hash, code);
    *code = dictionary->last = found;
    return CLR_OK;
}

/* Entries that are looked for together. */
enum { ADDED = 64 };

/* Fetches what is looked at for entries, all of it at once for each step, and stores their hashes.
 */
static void fetch_entries(const struct clr_dictionary *dictionary, const struct clr_scalar *entries,
                          uint32_t count, uint32_t *hashes)
{
    struct clr_value value;
    uint32_t i;

    for (i = 0; i < count; i++) {
        if (entries[i].tag == CLR_TAG_BYTES) {
            value = clr_bytes_value(entries[i].bits);
            hashes[i] = clr_dictionary_hash(dictionary, value.kind, value.bytes, value.as.size);
        } else {
            hashes[i] = hash_number(dictionary, entries[i]);
        }
        clr_dictionary_fetch_slot(dictionary, hashes[i]);
    }
    clr_dictionary_fetch_entries(dictionary, hashes, count);
}

/* Adds some entries. */
static enum clr_code add_some(struct clr_dictionary *dictionary, const struct clr_scalar *entries,
                              uint32_t count, uint32_t *codes)
{
    enum clr_code code = CLR_OK;
    uint32_t hashes[ADDED], i;

    fetch_entries(dictionary, entries, count, hashes);
    for (i = 0; i < count && code == CLR_OK; i++) {
        struct clr_value value;

        if (entries[i].tag != CLR_TAG_BYTES) {
            code = find_number(dictionary, entries[i], hashes[i], &codes[i]);
            continue;
        }
        value = clr_bytes_value(entries[i].bits);
        code = clr_dictionary_find_hashed(dictionary, value.kind, value.bytes, value.as.size,
                                          hashes[i], &codes[i]);
    }
    return code;
}

enum clr_code clr_dictionary_add_all(struct clr_dictionary *dictionary,
                                     const struct clr_scalar *entries, uint32_t count,
                                     uint32_t *codes)
{
    enum clr_code code = CLR_OK;
    uint32_t i, some;

    for (i = 0; i < count && code == CLR_OK; i += some) {
        some = count - i < ADDED ? count - i : ADDED;
        code = add_some(dictionary, entries + i, some, codes + i);
    }
    return code;
}

size_t clr_dictionary_size(const struct clr_dictionary *dictionary)
{
    return sizeof *dictionary + dictionary->capacity * sizeof *dictionary->entries +
           dictionary->slot_count * sizeof *dictionary->slots + dictionary->bytes.size;
}
