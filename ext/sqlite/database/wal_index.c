#include "sqlite/database/wal_index.h"

#include <string.h>

/* Where fields of the header are, and what follows its two copies. */
enum {
    AT_VERSION = 0,
    AT_CHANGE = 8,
    AT_IS_INIT = 12,
    AT_LAST_FRAME = 16,
    AT_PAGE_COUNT = 20,
    AT_SALTS = 32,
    AT_CHECKSUM = 40,
    HEADERS_SIZE = 2 * CLR_WAL_HEADER_SIZE,
    AT_BACKFILLED = HEADERS_SIZE,
    WORDS_SIZE = AT_BACKFILLED + 4
};

enum { REGION_SIZE = 32768, VERSION = 3007000, MOST_ATTEMPTS = 10 };

static uint32_t get_word(const unsigned char *bytes)
{
    uint32_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Copies words, in the byte order of the machine, in ascending order. Others write to them. */
static void copy_words(const void volatile *area, unsigned char *copy, int size)
{
    uint32_t word;
    int i;

    for (i = 0; i < size; i += 4) {
        word =
            __atomic_load_n((const uint32_t *)((uintptr_t)area + (uintptr_t)i), __ATOMIC_SEQ_CST);
        memcpy(copy + i, &word, sizeof word);
    }
}

/* Section 4.2, "Checksum Algorithm", in the machine's byte order. */
static bool has_valid_checksum(const unsigned char *header)
{
    uint32_t sums[2] = {0, 0};
    int i;

    for (i = 0; i < AT_CHECKSUM; i += 8) {
        sums[0] += get_word(header + i) + sums[1];
        sums[1] += get_word(header + i + 4) + sums[0];
    }
    return memcmp(sums, header + AT_CHECKSUM, sizeof sums) == 0;
}

bool clr_wal_index_read(sqlite3_file *file, struct clr_wal_index *index)
{
    unsigned char words[WORDS_SIZE], after[HEADERS_SIZE];
    void volatile *area = NULL;
    int attempt;

    if (file->pMethods->iVersion < 2 || file->pMethods->xShmMap == NULL ||
        file->pMethods->xShmMap(file, 0, REGION_SIZE, 0, &area) != SQLITE_OK || area == NULL)
        return false;
    for (attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        file->pMethods->xShmBarrier(file);
        copy_words(area, words, WORDS_SIZE);
        file->pMethods->xShmBarrier(file);
        copy_words(area, after, HEADERS_SIZE);
        if (memcmp(words, words + CLR_WAL_HEADER_SIZE, CLR_WAL_HEADER_SIZE) != 0 ||
            memcmp(words, after, HEADERS_SIZE) != 0)
            continue;
        memcpy(index->header, words, CLR_WAL_HEADER_SIZE);
        index->backfilled = get_word(words + AT_BACKFILLED);
        return get_word(words + AT_VERSION) == VERSION && words[AT_IS_INIT] != 0 &&
               has_valid_checksum(words);
    }
    return false;
}

uint32_t clr_wal_index_last_frame(const struct clr_wal_index *index)
{
    return get_word(index->header + AT_LAST_FRAME);
}

uint32_t clr_wal_index_page_count(const struct clr_wal_index *index)
{
    return get_word(index->header + AT_PAGE_COUNT);
}

const unsigned char *clr_wal_index_salts(const struct clr_wal_index *index)
{
    return index->header + AT_SALTS;
}

bool clr_wal_index_same_log(const unsigned char *header, const unsigned char *other)
{
    return memcmp(header + AT_SALTS, other + AT_SALTS, CLR_WAL_SALTS_SIZE) == 0;
}

bool clr_wal_index_is_next(const unsigned char *header, const unsigned char *next)
{
    const uint32_t change = get_word(next + AT_CHANGE);
    const uint32_t frames = get_word(next + AT_LAST_FRAME) - get_word(header + AT_LAST_FRAME);

    return clr_wal_index_same_log(header, next) && change == get_word(header + AT_CHANGE) + 1 &&
           frames > 0 && frames < change;
}
