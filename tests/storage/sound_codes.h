/* Whether codes and their dictionary are as a load has to make them. For tests. */
#ifndef CLR_TESTS_SOUND_CODES_H
#define CLR_TESTS_SOUND_CODES_H

#include "numeric/values/column.h"

#include "tap.h"

#include <stdlib.h>

/* Whether a column of codes that was just loaded has the codes of different entries, all of which
   some row has, in as few bytes as will do. */
static inline bool image_has_sound_codes(const struct clr_column *column)
{
    struct clr_dictionary *dictionary = column->dictionary;
    bool *used = calloc(dictionary->count + 1, sizeof *used);
    const uint32_t count = dictionary->count;
    bool sound = column->code_bytes == clr_column_code_bytes(count) &&
                 column->entries_read == count && column->values == NULL && column->tags == NULL &&
                 dictionary->bytes.left == NULL;
    uint32_t code;

    TAP_NEED(used != NULL, "no memory");
    for (size_t row = 0; row < column->rows && sound; row++) {
        sound = clr_column_code(column, row) < count;
        if (sound)
            used[clr_column_code(column, row)] = true;
    }
    for (uint32_t i = 0; i < count && sound; i++) {
        const struct clr_scalar entry = dictionary->entries[i];
        struct clr_value value;

        if (entry.tag == CLR_TAG_BYTES) {
            value = clr_bytes_value(entry.bits);
            clr_dictionary_find_hashed(
                dictionary, value.kind, value.bytes, value.as.size,
                clr_dictionary_hash(dictionary, value.kind, value.bytes, value.as.size), &code);
        } else {
            clr_dictionary_find(dictionary, entry, &code);
        }
        sound = used[i] && code == i;
    }
    free(used);
    return sound && dictionary->count == count;
}

#endif
