#include "storage/format/page_set.h"

#include "base/memory.h"

enum {
    BLOCK_WORDS = CLR_PAGE_SET_BLOCK / CLR_PAGE_SET_WORD,
    BLOCK_BYTES = BLOCK_WORDS * sizeof(atomic_uint)
};

/* What is zero everywhere is 0 and NULL to atomics, too. */
struct clr_page_set *clr_page_set_new(uint32_t last)
{
    const size_t count = last / CLR_PAGE_SET_BLOCK + (size_t)1;
    struct clr_page_set *set = clr_memory_alloc_zero(sizeof *set + count * sizeof *set->blocks);

    if (set != NULL) {
        set->last = last;
        set->block_count = count;
    }
    return set;
}

static atomic_uint *find_block(const struct clr_page_set *set, size_t i)
{
    return i < set->block_count ? atomic_load_explicit(&set->blocks[i], memory_order_acquire)
                                : NULL;
}

void clr_page_set_free(struct clr_page_set *set)
{
    size_t i;

    for (i = 0; set != NULL && i < set->block_count; i++)
        clr_memory_free(find_block(set, i));
    clr_memory_free(set);
}

size_t clr_page_set_size(const struct clr_page_set *set)
{
    size_t size = sizeof *set + set->block_count * sizeof *set->blocks, i;

    for (i = 0; i < set->block_count; i++)
        size += find_block(set, i) == NULL ? 0 : BLOCK_BYTES;
    return size;
}

struct clr_page_set *clr_page_set_copy(const struct clr_page_set *set)
{
    struct clr_page_set *copy = clr_page_set_new(set->last);
    size_t i, k;

    for (i = 0; i < set->block_count && copy != NULL; i++) {
        const atomic_uint *from = find_block(set, i);
        atomic_uint *to;

        if (from == NULL)
            continue;
        to = clr_memory_alloc_zero(BLOCK_BYTES);
        if (to == NULL) {
            clr_page_set_free(copy);
            return NULL;
        }
        for (k = 0; k < BLOCK_WORDS; k++)
            atomic_init(&to[k], atomic_load_explicit(&from[k], memory_order_relaxed));
        atomic_init(&copy->blocks[i], to);
    }
    return copy;
}

/* Makes a block, unless another thread has made it first. */
static atomic_uint *make_block(struct clr_page_set *set, size_t i)
{
    atomic_uint *block = clr_memory_alloc_zero(BLOCK_BYTES), *found = NULL;

    if (block == NULL || atomic_compare_exchange_strong(&set->blocks[i], &found, block))
        return block;
    clr_memory_free(block);
    return found;
}

bool clr_page_set_add_word(struct clr_page_set *set, uint32_t word, unsigned bits, unsigned *before)
{
    atomic_uint *block = find_block(set, word / BLOCK_WORDS);

    if (block == NULL)
        block = make_block(set, word / BLOCK_WORDS);
    if (block == NULL)
        return false;
    *before =
        atomic_fetch_or_explicit(&block[word % BLOCK_WORDS], bits, memory_order_relaxed) & bits;
    return true;
}

bool clr_page_set_add(struct clr_page_set *set, uint32_t page)
{
    unsigned before;

    return clr_page_set_add_word(set, page / CLR_PAGE_SET_WORD, 1U << page % CLR_PAGE_SET_WORD,
                                 &before);
}

/* Sets a word of a set that no other thread uses now, which takes a small part of the time of an
   atomic operation. */
static void put_word(atomic_uint *word, unsigned bits)
{
    atomic_store_explicit(word, bits, memory_order_relaxed);
}

static unsigned get_word(const atomic_uint *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

void clr_page_set_remove(struct clr_page_set *set, const struct clr_page_set *other)
{
    size_t i, k;

    for (i = 0; i < set->block_count; i++) {
        atomic_uint *block = find_block(set, i);
        const atomic_uint *from = find_block(other, i);

        for (k = 0; k < BLOCK_WORDS && block != NULL && from != NULL; k++)
            put_word(&block[k], get_word(&block[k]) & ~get_word(&from[k]));
    }
}

void clr_page_set_take(struct clr_page_set *set, struct clr_page_set *other)
{
    size_t i, k;

    for (i = 0; i < set->block_count && other != NULL; i++) {
        atomic_uint *block = find_block(set, i), *from = find_block(other, i);

        if (block == NULL && from != NULL) {
            atomic_store(&set->blocks[i], from);
            atomic_store(&other->blocks[i], NULL);
        }
        for (k = 0; k < BLOCK_WORDS && block != NULL && from != NULL; k++)
            put_word(&block[k], get_word(&block[k]) | get_word(&from[k]));
    }
    clr_page_set_free(other);
}

uint32_t clr_page_set_next(const struct clr_page_set *set, uint32_t page)
{
    uint64_t next = (uint64_t)page + 1;

    while (next <= set->last) {
        const atomic_uint *block = find_block(set, next / CLR_PAGE_SET_BLOCK);
        unsigned bits;

        if (block == NULL) {
            next = (next / CLR_PAGE_SET_BLOCK + 1) * CLR_PAGE_SET_BLOCK;
            continue;
        }
        bits = atomic_load_explicit(&block[next % CLR_PAGE_SET_BLOCK / CLR_PAGE_SET_WORD],
                                    memory_order_relaxed) >>
               next % CLR_PAGE_SET_WORD;
        if (bits != 0) {
            next += (unsigned)__builtin_ctz(bits);
            return next <= set->last ? (uint32_t)next : 0;
        }
        next = (next / CLR_PAGE_SET_WORD + 1) * CLR_PAGE_SET_WORD;
    }
    return 0;
}

bool clr_page_set_meets(const struct clr_page_set *set, const struct clr_page_set *other)
{
    size_t i, k;

    for (i = 0; i < set->block_count; i++) {
        const atomic_uint *block = find_block(set, i), *against = find_block(other, i);

        for (k = 0; k < BLOCK_WORDS && block != NULL; k++) {
            const uint64_t first = (uint64_t)i * CLR_PAGE_SET_BLOCK + k * CLR_PAGE_SET_WORD;
            unsigned bits = against == NULL ? 0 : atomic_load(&against[k]);

            if (first + CLR_PAGE_SET_WORD > other->last)
                bits |=
                    first > other->last ? UINT32_MAX : ~UINT32_C(0) << (other->last - first) << 1;
            if ((atomic_load(&block[k]) & bits) != 0)
                return true;
        }
    }
    return false;
}
