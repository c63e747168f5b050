#include "storage/leaves/target.h"

/* As clr_target_put_code_of_bytes(), of NULL or a number. */
static void put_code(struct clr_target *target, size_t row, struct clr_scalar value)
{
    enum clr_code code = clr_dictionary_add(target->dictionary, value, &target->codes[row]);

    if (code != CLR_OK)
        target->code = code;
}

void clr_target_put_code_of_bytes(struct clr_target *target, size_t row, enum clr_kind kind,
                                  const void *bytes, size_t size)
{
    enum clr_code code =
        clr_dictionary_add_bytes(target->dictionary, kind, bytes, size, &target->codes[row]);

    if (code != CLR_OK)
        target->code = code;
}

/* Keeps the code of a row, unless there is none. */
static void keep(struct clr_target *target, size_t row, struct clr_code_key key)
{
    key.code = target->codes[row];
    if (target->code == CLR_OK)
        *clr_code_cache_slot(target->cache, &key) = key;
}

void clr_target_learn_number(struct clr_target *target, size_t row, struct clr_scalar value)
{
    const struct clr_code_key key = clr_code_key_of_number(value);

    put_code(target, row, value);
    keep(target, row, key);
}

void clr_target_learn_bytes(struct clr_target *target, size_t row, uint32_t type,
                            const unsigned char *from)
{
    const struct clr_code_key key = clr_code_key_of_bytes(type, from);

    clr_target_put_code_of_bytes(target, row, type % 2 != 0 ? CLR_KIND_TEXT : CLR_KIND_BLOB, from,
                                 clr_serial_sizes[type]);
    keep(target, row, key);
}

void clr_target_learn_hashed(struct clr_target *target, size_t row, uint32_t type,
                             const unsigned char *from, uint32_t hash)
{
    enum clr_code code = clr_dictionary_find_hashed(
        target->dictionary, type % 2 != 0 ? CLR_KIND_TEXT : CLR_KIND_BLOB, from,
        clr_serial_sizes[type], hash, &target->codes[row]);

    if (code != CLR_OK)
        target->code = code;
    keep(target, row, clr_code_key_of_bytes(type, from));
}

void clr_target_put_record(struct clr_target *target, size_t row, struct clr_scalar value)
{
    struct clr_value bytes;

    if (target->codes == NULL) {
        clr_target_put(target, row, value);
    } else if (value.tag == CLR_TAG_BYTES) {
        bytes = clr_bytes_value(value.bits);
        clr_target_put_code_of_bytes(target, row, bytes.kind, bytes.bytes, bytes.as.size);
    } else {
        put_code(target, row, value);
    }
}
