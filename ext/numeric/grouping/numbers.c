#include "numeric/grouping/numbers.h"

#include "numeric/filter/row_set.h"

#include <string.h>

/* How many rows ahead a slot is fetched. */
enum { AHEAD = 16 };

/* ---- The table. */

enum { FIRST_CAPACITY = 4096, SOME_KEYS = 1024, MOST_NUMBERS = 1 << 30 };

enum clr_scan_outcome clr_group_table_init(struct clr_group_table *table,
                                           struct clr_group_memory *memory, size_t most,
                                           size_t width)
{
    *table = (struct clr_group_table){.memory = memory, .width = width, .most = most};
    return clr_room_reserve(&table->keys, most * width * sizeof(uint64_t));
}

void clr_group_table_free(struct clr_group_table *table)
{
    if (table->memory == NULL)
        return;
    clr_room_free(&table->slots, table->memory);
    clr_room_free(&table->keys, table->memory);
}

static enum clr_scan_outcome grow_slots(struct clr_group_table *table, size_t capacity)
{
    const struct clr_group_slot *old = table->slots.start;
    const size_t old_capacity = table->capacity;
    struct clr_group_slot *slots;
    struct clr_room larger;
    enum clr_scan_outcome outcome = clr_room_make(&larger, table->memory, capacity * sizeof *slots);
    size_t i, place;

    if (outcome != CLR_SCAN_DONE)
        return outcome;
    slots = larger.start;
    table->capacity = capacity;
    table->shift = __builtin_clzll(capacity) + 1;
    for (i = 0; i < old_capacity; i++) {
        if (old[i].number == 0)
            continue;
        place = clr_group_table_home(table, old[i].hash);
        while (slots[place].number != 0)
            place = (place + 1) & (capacity - 1);
        slots[place] = old[i];
    }
    clr_room_free(&table->slots, table->memory);
    table->slots = larger;
    return CLR_SCAN_DONE;
}

void clr_group_table_expect(struct clr_group_table *table, size_t count)
{
    size_t capacity = FIRST_CAPACITY;

    while (count > capacity / 8 * 5)
        capacity *= 2;
    if (count <= MOST_NUMBERS && capacity > table->capacity)
        grow_slots(table, capacity);
}

void clr_group_table_append(struct clr_group_table *table)
{
    table->appends = true;
    table->capacity = 0;
    clr_room_free(&table->slots, table->memory);
}

enum clr_scan_outcome clr_group_table_make_room(struct clr_group_table *table, size_t more)
{
    const size_t wanted = table->count + more;
    const size_t count = wanted < table->most ? wanted : table->most;
    size_t capacity = table->capacity == 0 ? FIRST_CAPACITY : table->capacity;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (count > MOST_NUMBERS)
        return CLR_SCAN_LIMIT;
    while (count > capacity / 8 * 5)
        capacity *= 2;
    if (capacity != table->capacity && !table->appends)
        outcome = grow_slots(table, capacity);
    if (outcome == CLR_SCAN_DONE && count > table->key_capacity) {
        size_t keys = count + count / 8 + SOME_KEYS;
        keys = keys < table->most ? keys : table->most;
        outcome =
            clr_room_take(&table->keys, table->memory, keys * table->width * sizeof(uint64_t));
        if (outcome == CLR_SCAN_DONE)
            table->key_capacity = keys;
    }
    return outcome;
}

/* ---- All. */

enum clr_scan_outcome clr_group_numbers_init(struct clr_group_numbers *numbers,
                                             const struct clr_group_plan *plan,
                                             struct clr_group_memory *memory, size_t rows)
{
    enum clr_scan_outcome outcome;

    numbers->plan = plan;
    numbers->loops = clr_group_loops_choose(0);
    numbers->table = (struct clr_group_table){.memory = NULL};
    if (plan->numbering == CLR_NUMBERED_DIRECTLY)
        return CLR_SCAN_DONE;
    if (plan->numbering == CLR_NUMBERED_BY_PLACE)
        return clr_group_table_init(&numbers->table, memory, rows, 1);
    outcome =
        clr_group_table_init(&numbers->table, memory, rows, (size_t)plan->grouping.key_count + 1);
    return outcome == CLR_SCAN_DONE
               ? clr_room_make(&numbers->keys, memory,
                               CLR_BLOCK * numbers->table.width * sizeof(uint64_t))
               : outcome;
}

void clr_group_numbers_free(struct clr_group_numbers *numbers)
{
    if (numbers->table.memory != NULL)
        clr_room_free(&numbers->keys, numbers->table.memory);
    clr_group_table_free(&numbers->table);
}

/* ---- Places. */

/* Whether any row is of a type that the mask does not have. */
static bool has_others(const struct clr_block *block, const struct clr_register *values,
                       unsigned mask, const uint64_t *rows)
{
    uint64_t found[CLR_BLOCK_WORDS];
    int tag;

    for (tag = CLR_TAG_NULL; tag <= CLR_TAG_UNSURE; tag++)
        if (!(mask & CLR_TYPE(tag)) &&
            clr_row_set_find(block->loops, values, (enum clr_tag)tag, rows, found))
            return true;
    return false;
}

/* Adds the places of a key whose rows may be NULL, or have no place, to words. Returns whether one
   of the rows has none. */
static bool add_places(const struct clr_group_key *key, bool descending,
                       const struct clr_register *values, const uint16_t *rows, size_t count,
                       uint64_t *words)
{
    const bool nulls = (values->types & CLR_TYPE(CLR_TAG_NULL)) != 0;
    bool outside = false;
    size_t i;

    for (i = 0; i < count; i++) {
        const size_t row = rows[i];
        uint64_t place = (uint64_t)values->values[row] - (uint64_t)key->first;

        if (nulls && values->tags[row] == CLR_TAG_NULL) {
            place = 0;
        } else {
            outside |= place > key->size - 2;
            place++;
        }
        if (descending)
            place = key->size - 1 - place;
        words[row] += place * key->factor;
    }
    return outside;
}

/* Stores the places in words. Returns false if keys are not as planned. */
static bool find_places_carefully(struct clr_group_numbers *numbers, const struct clr_block *block,
                                  const uint64_t *selected, const uint16_t *rows, size_t count)
{
    const struct clr_group_plan *plan = numbers->plan;
    const struct clr_grouping *grouping = &plan->grouping;
    size_t row;
    int i;

    memset(numbers->words, 0, sizeof numbers->words);
    for (i = 0; i < grouping->key_count; i++) {
        const struct clr_register *values = &block->registers[grouping->keys[i]];

        if (has_others(block, values, CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_NULL),
                       selected) ||
            add_places(&plan->keys[i], grouping->descending[i] && !grouping->by_first, values, rows,
                       count, numbers->words))
            return false;
    }
    for (row = 0; row < CLR_BLOCK && plan->numbering == CLR_NUMBERED_DIRECTLY; row++)
        numbers->numbers[row] = (uint32_t)numbers->words[row];
    return true;
}

/* Stores the codes of a block's rows as their numbers. */
static void take_codes(struct clr_group_numbers *numbers, const struct clr_block *block)
{
    const struct clr_scan *scan = block->scan;
    const struct clr_column *column = block->columns[scan->instructions[scan->grouping->keys[0]].a];
    const uint8_t *bytes = (const uint8_t *)column->codes + block->first;
    const uint16_t *halves = (const uint16_t *)column->codes + block->first;
    const uint32_t *words = (const uint32_t *)column->codes + block->first;
    size_t i;

    if (column->code_bytes == 4)
        memcpy(numbers->numbers, words, block->count * sizeof *words);
    for (i = 0; i < block->count && column->code_bytes == 2; i++)
        numbers->numbers[i] = halves[i];
    for (i = 0; i < block->count && column->code_bytes == 1; i++)
        numbers->numbers[i] = bytes[i];
}

/* Stores the places, in words, or as numbers if they are. Returns false if keys are not as
   planned. Where all rows of the block are INTEGERs that have places, loops do it. */
static bool find_places(struct clr_group_numbers *numbers, struct clr_block *block,
                        const uint64_t *selected, const uint16_t *rows, size_t count)
{
    const struct clr_group_plan *plan = numbers->plan;
    const struct clr_grouping *grouping = &plan->grouping;
    bool simple = grouping->key_count > 0;
    int i;

    for (i = 0; i < grouping->key_count && simple; i++) {
        const struct clr_register *values = &block->registers[grouping->keys[i]];
        const struct clr_group_key *key = &plan->keys[i];
        const bool descending = grouping->descending[i] && !grouping->by_first;
        struct clr_group_placing placing = {key->first, key->size - 2, key->factor,
                                            key->factor * (1 - (uint64_t)key->first)};

        if (values->types != CLR_TYPE(CLR_TAG_INTEGER))
            break;
        if (descending)
            placing =
                (struct clr_group_placing){key->first, key->size - 2, -key->factor,
                                           key->factor * (key->size - 2 + (uint64_t)key->first)};
        if (plan->numbering == CLR_NUMBERED_DIRECTLY)
            simple = numbers->loops->place(&placing, i == 0, values->values, numbers->numbers,
                                           clr_block_ahead(block, values->values));
        else
            simple = numbers->loops->place_long(&placing, i == 0, values->values, numbers->words,
                                                clr_block_ahead(block, values->values));
    }
    return (simple && i == grouping->key_count) ||
           find_places_carefully(numbers, block, selected, rows, count);
}

struct clr_scalar clr_group_key_at_place(const struct clr_group_plan *plan, uint64_t place, int key)
{
    const struct clr_grouping *grouping = &plan->grouping;
    const struct clr_group_key *at = &plan->keys[key];
    uint64_t number = place / at->factor % at->size;

    if (grouping->descending[key] && !grouping->by_first)
        number = at->size - 1 - number;
    if (number == 0)
        return (struct clr_scalar){CLR_TAG_NULL, 0};
    return (struct clr_scalar){CLR_TAG_INTEGER, (int64_t)((uint64_t)at->first + number - 1)};
}

/* ---- Hashes. */

/* The seed comes in twice: keys that collide for one seed do not for another. */
static uint64_t first_hash(const struct clr_group_plan *plan)
{
    return plan->seed * 2 + 1;
}

/* What is mixed into a hash for NULL. It may be a number's as well: then the keys tell. */
#define NULL_WORD UINT64_C(0xd6e8feb86659fd93)

uint64_t clr_group_hash_key(const struct clr_group_plan *plan, const uint64_t *key)
{
    const int count = plan->grouping.key_count;
    uint64_t hash = first_hash(plan);
    int i;

    if (plan->numbering == CLR_NUMBERED_BY_PLACE)
        return clr_group_mix(hash, *key);
    for (i = 0; i < count; i++) {
        const bool null = clr_group_key_of_words(key, count, i).tag == CLR_TAG_NULL;
        hash = clr_group_mix(hash, null ? NULL_WORD : key[i]);
    }
    return hash;
}

static void hash_places(struct clr_group_numbers *numbers, const uint16_t *rows, size_t count)
{
    const uint64_t first = first_hash(numbers->plan);
    size_t i;

    for (i = 0; i < count; i++)
        numbers->hashes[rows[i]] = clr_group_mix(first, numbers->words[rows[i]]);
}

/* Adds a key's values to the keys of the rows, and to their hashes; their tags to words. */
static void add_keys(struct clr_group_numbers *numbers, const struct clr_register *values, int key,
                     const uint16_t *rows, size_t count)
{
    const size_t width = numbers->table.width;
    uint64_t *keys = (uint64_t *)numbers->keys.start + key;
    size_t i;

    for (i = 0; i < count; i++) {
        const size_t row = rows[i];
        const uint8_t tag = values->tags[row];
        const uint64_t word = (uint64_t)values->values[row];

        keys[row * width] = tag == CLR_TAG_NULL ? 0 : word;
        numbers->hashes[row] =
            clr_group_mix(numbers->hashes[row], tag == CLR_TAG_NULL ? NULL_WORD : word);
        numbers->words[row] |= (uint64_t)tag << 2 * key;
    }
}

/* Makes the keys of the rows. Returns false if one is BYTES or UNSURE. */
static bool hash_keys(struct clr_group_numbers *numbers, const struct clr_block *block,
                      const uint64_t *selected, const uint16_t *rows, size_t count)
{
    const struct clr_grouping *grouping = &numbers->plan->grouping;
    const uint64_t first = first_hash(numbers->plan);
    uint64_t *tags = (uint64_t *)numbers->keys.start + grouping->key_count;
    size_t i;
    int key;

    for (i = 0; i < CLR_BLOCK; i++)
        numbers->hashes[i] = first;
    memset(numbers->words, 0, sizeof numbers->words);
    for (key = 0; key < grouping->key_count; key++) {
        const struct clr_register *values = &block->registers[grouping->keys[key]];

        if (has_others(block, values, CLR_NUMBER_TYPES | CLR_TYPE(CLR_TAG_NULL), selected))
            return false;
        add_keys(numbers, values, key, rows, count);
    }
    for (i = 0; i < count; i++)
        tags[rows[i] * numbers->table.width] = numbers->words[rows[i]];
    return true;
}

/* ---- Numbers. */

/* Gives each row a number of its own. */
static void append_places(struct clr_group_numbers *numbers, const uint16_t *rows, size_t count)
{
    struct clr_group_table *table = &numbers->table;
    uint64_t *places = (uint64_t *)table->keys.start + table->count;
    size_t i;

    for (i = 0; i < count; i++) {
        places[i] = numbers->words[rows[i]];
        numbers->numbers[rows[i]] = (uint32_t)(table->count + i);
    }
    table->count += count;
}

/* width: the table's, as a constant where it is the usual one; or 0: hashes alone tell the keys,
   which are places. */
static inline __attribute__((always_inline)) void look_up(struct clr_group_numbers *numbers,
                                                          const uint64_t *keys,
                                                          const uint16_t *rows, size_t count,
                                                          size_t width)
{
    struct clr_group_table *table = &numbers->table;
    size_t i;

    for (i = 0; i < count; i++) {
        const size_t row = rows[i];

        if (i + 2 * AHEAD < count)
            clr_group_table_fetch(table, numbers->hashes[rows[i + 2 * AHEAD]]);
        if (width > 0 && i + AHEAD < count)
            clr_group_table_fetch_key(table, numbers->hashes[rows[i + AHEAD]]);
        numbers->numbers[row] = clr_group_table_find(table, numbers->hashes[row],
                                                     keys + row * (width > 0 ? width : 1), width);
    }
}

enum clr_scan_outcome clr_group_numbers_find(struct clr_group_numbers *numbers,
                                             struct clr_block *block, const uint64_t *selected,
                                             const uint16_t *rows, size_t count, bool *doubtful)
{
    enum clr_scan_outcome outcome;

    if (numbers->plan->by_codes) {
        take_codes(numbers, block);
        return CLR_SCAN_DONE;
    }
    if (numbers->plan->numbering == CLR_NUMBERED_BY_KEYS) {
        if (!hash_keys(numbers, block, selected, rows, count))
            return CLR_SCAN_UNSURE;
    } else if (!find_places(numbers, block, selected, rows, count)) {
        *doubtful = true;
        return CLR_SCAN_DONE;
    } else if (numbers->plan->numbering == CLR_NUMBERED_DIRECTLY) {
        return CLR_SCAN_DONE;
    } else if (!numbers->table.appends) {
        hash_places(numbers, rows, count);
    }
    outcome = clr_group_table_make_room(&numbers->table, count);
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    if (numbers->table.appends)
        append_places(numbers, rows, count);
    else if (numbers->plan->numbering == CLR_NUMBERED_BY_PLACE)
        look_up(numbers, numbers->words, rows, count, 0);
    else if (numbers->table.width == 2)
        look_up(numbers, numbers->keys.start, rows, count, 2);
    else
        look_up(numbers, numbers->keys.start, rows, count, numbers->table.width);
    return CLR_SCAN_DONE;
}
