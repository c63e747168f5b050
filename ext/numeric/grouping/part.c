#include "numeric/grouping/part.h"

#include "base/memory.h"
#include "numeric/grouping/runs.h"
#include "numeric/scan/taking.h"

#include <string.h>

/* How many rows ahead a slot is fetched. */
enum { AHEAD = 16 };

/* ---- The table. */

/* Mixes a word into a hash; for a given hash and seed, different words give different hashes.
   Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014). */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 32;
}

static size_t home_of(const struct clr_group_table *table, uint64_t hash)
{
    return hash >> table->shift;
}

/* Both are inlined in any case: GCC takes a function that fetches alone for one without effects,
   and leaves out its calls. */
static inline __attribute__((always_inline)) void fetch_slot(const struct clr_group_table *table,
                                                             uint64_t hash)
{
    __builtin_prefetch((const struct clr_group_slot *)table->slots.start + home_of(table, hash));
}

/* Fetches the key that is likely to be looked at, of a slot that has been fetched. */
static inline __attribute__((always_inline)) void fetch_key(const struct clr_group_table *table,
                                                            uint64_t hash)
{
    const struct clr_group_slot *slots = table->slots.start;
    const uint32_t guess = slots[home_of(table, hash)].number;

    if (guess != 0)
        __builtin_prefetch(clr_group_table_key(table, guess - 1));
}

/* Returns the number of a key with that hash; there must be room for one more. If its hash alone
   says which key it is, width is 0, else the table's. */
static inline __attribute__((always_inline)) uint32_t
find_key(struct clr_group_table *table, uint64_t hash, const uint64_t *key, size_t width)
{
    struct clr_group_slot *slots = table->slots.start;
    size_t place = home_of(table, hash), i;

    for (; slots[place].number != 0; place = (place + 1) & (table->capacity - 1))
        if (slots[place].hash == hash &&
            clr_group_same_key(clr_group_table_key(table, slots[place].number - 1), key, width))
            return slots[place].number - 1;
    for (i = 0; i < table->width; i++)
        ((uint64_t *)table->keys.start)[table->count * table->width + i] = key[i];
    slots[place] = (struct clr_group_slot){hash, (uint32_t)++table->count, 0};
    return slots[place].number - 1;
}

enum { FIRST_CAPACITY = 4096, SOME_KEYS = 1024, MOST_NUMBERS = 1 << 30 };

/* Sets up an empty table for at most so many keys, of so many words each. Free with
   free_table(), which is due after a failure too. */
static enum clr_scan_outcome init_table(struct clr_group_table *table,
                                        struct clr_group_memory *memory, size_t most, size_t width)
{
    *table = (struct clr_group_table){.memory = memory, .width = width, .most = most};
    return clr_room_reserve(&table->keys, most * width * sizeof(uint64_t));
}

static void free_table(struct clr_group_table *table)
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
        place = home_of(table, old[i].hash);
        while (slots[place].number != 0)
            place = (place + 1) & (capacity - 1);
        slots[place] = old[i];
    }
    clr_room_free(&table->slots, table->memory);
    table->slots = larger;
    return CLR_SCAN_DONE;
}

/* Gives all further keys numbers of their own, the same key several ones, from now on. */
static void append_keys(struct clr_group_table *table)
{
    table->appends = true;
    table->capacity = 0;
    clr_room_free(&table->slots, table->memory);
}

/* Takes so many bytes of a reserved room out of the limit, those included that were taken before.
   Returns CLR_SCAN_DONE or CLR_SCAN_LIMIT. */
static enum clr_scan_outcome take_room(struct clr_room *room, struct clr_group_memory *memory,
                                       size_t bytes)
{
    if (bytes <= room->taken)
        return CLR_SCAN_DONE;
    if (!clr_group_memory_take(memory, bytes - room->taken))
        return CLR_SCAN_LIMIT;
    room->taken = bytes;
    return CLR_SCAN_DONE;
}

/* Makes room for so many more keys. Returns CLR_SCAN_DONE, CLR_SCAN_LIMIT or CLR_SCAN_FAILED. */
static enum clr_scan_outcome make_room_in_table(struct clr_group_table *table, size_t more)
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
        outcome = take_room(&table->keys, table->memory, keys * table->width * sizeof(uint64_t));
        if (outcome == CLR_SCAN_DONE)
            table->key_capacity = keys;
    }
    return outcome;
}

/* ---- Numbers. */

/* Begins without groups, for so many rows. */
static enum clr_scan_outcome init_numbers(struct clr_group_numbers *numbers,
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
        return init_table(&numbers->table, memory, rows, 1);
    outcome = init_table(&numbers->table, memory, rows, (size_t)plan->grouping.key_count + 1);
    return outcome == CLR_SCAN_DONE
               ? clr_room_make(&numbers->keys, memory,
                               CLR_BLOCK * numbers->table.width * sizeof(uint64_t))
               : outcome;
}

static void free_numbers(struct clr_group_numbers *numbers)
{
    if (numbers->table.memory != NULL)
        clr_room_free(&numbers->keys, numbers->table.memory);
    free_table(&numbers->table);
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

    for (i = 0; i < count; i++)
        outside |=
            clr_group_add_place(key, descending, nulls && values->tags[rows[i]] == CLR_TAG_NULL,
                                values->values[rows[i]], &words[rows[i]]);
    return outside;
}

/* Stores the places in words. Returns false if keys are not as planned. */
static bool find_places_carefully(struct clr_group_numbers *numbers, struct clr_block *block,
                                  const uint64_t *selected, const uint16_t *rows, size_t count)
{
    const struct clr_group_plan *plan = numbers->plan;
    const struct clr_grouping *grouping = &plan->grouping;
    size_t row;
    int i;

    memset(numbers->words, 0, sizeof numbers->words);
    for (i = 0; i < grouping->key_count; i++) {
        const struct clr_register *values = &block->registers[grouping->keys[i]];

        clr_block_widen(block, grouping->keys[i]);
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
    size_t i;

    if (block->count == CLR_BLOCK) {
        block->loops->widen((const char *)column->codes + block->first * column->code_bytes,
                            column->code_bytes, numbers->numbers);
        return;
    }
    for (i = 0; i < block->count; i++)
        numbers->numbers[i] = clr_column_code(column, block->first + i);
}

/* Adds the places of a narrow column's INTEGERs to the numbers, or stores them. Returns false
   unless all of the column have places. */
static bool place_words(struct clr_group_numbers *numbers, const struct clr_block *block,
                        const struct clr_column *column, struct clr_group_placing placing,
                        bool first)
{
    const struct clr_frame *frame = &column->frame;

    if (frame->known_least < placing.first ||
        (uint64_t)frame->known_greatest - (uint64_t)placing.first > placing.size)
        return false;
    placing.start += placing.factor * (uint64_t)frame->least;
    numbers->loops->place_words(&placing, first, clr_block_words(block, column), frame->bytes,
                                numbers->numbers);
    return true;
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
        if (values->values == NULL &&
            place_words(numbers, block, clr_block_column(block, grouping->keys[i]), placing,
                        i == 0))
            continue;
        clr_block_widen(block, grouping->keys[i]);
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
        return mix(hash, *key);
    for (i = 0; i < count; i++) {
        const bool null = clr_group_key_of_words(key, count, i).tag == CLR_TAG_NULL;
        hash = mix(hash, null ? NULL_WORD : key[i]);
    }
    return hash;
}

static void hash_places(struct clr_group_numbers *numbers, const uint16_t *rows, size_t count)
{
    const uint64_t first = first_hash(numbers->plan);
    size_t i;

    for (i = 0; i < count; i++)
        numbers->hashes[rows[i]] = mix(first, numbers->words[rows[i]]);
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
        numbers->hashes[row] = mix(numbers->hashes[row], tag == CLR_TAG_NULL ? NULL_WORD : word);
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
            fetch_slot(table, numbers->hashes[rows[i + 2 * AHEAD]]);
        if (width > 0 && i + AHEAD < count)
            fetch_key(table, numbers->hashes[rows[i + AHEAD]]);
        numbers->numbers[row] =
            find_key(table, numbers->hashes[row], keys + row * (width > 0 ? width : 1), width);
    }
}

/*
 * Stores the numbers of the selected rows, which are `rows`, count of them. The block has run.
 * *doubtful becomes true where keys are not as planned. Returns CLR_SCAN_DONE, CLR_SCAN_UNSURE,
 * CLR_SCAN_LIMIT or CLR_SCAN_FAILED.
 */
static enum clr_scan_outcome find_numbers(struct clr_group_numbers *numbers,
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
    outcome = make_room_in_table(&numbers->table, count);
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

/* ---- Parts. */

/* Bytes of records that stay in a processor's cache without being fetched. */
enum { NEAR = 1 << 19 };

/* So many rows, and one in 16, tell whether most groups have one or two rows. */
enum { SOME = 1 << 14 };

/* Takes note of which row is the first of each group that has one, by the word that a device keeps
   behind a record's others. */
static void take_first_rows(const struct clr_group_part *part)
{
    uint64_t *first_rows = part->first_rows.start, place;

    for (place = 0; first_rows != NULL && place < part->plan->places; place++) {
        const int64_t *record = clr_group_part_record(part, place);

        if (record[0] != 0)
            first_rows[place] = part->first + ~(uint64_t)record[part->plan->words];
    }
}

/* Whether a tally, if it has one argument, only counts and adds. */
static bool only_adds(const struct clr_group_tally *kept)
{
    int i;

    for (i = 0; i < 4; i++)
        if (kept->extremes[i] >= 0)
            return false;
    return !kept->gathers;
}

/* Finds the instructions whose values are nothing but keys that are places, and what tallies add:
   both can be made of what a narrow column keeps. */
static void find_lazy(struct clr_group_part *part)
{
    const struct clr_group_plan *plan = part->plan;
    const struct clr_scan *scan = plan->scan;
    bool *is_lazy = part->is_lazy;
    int i;

    for (i = 0; i < scan->instruction_count; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];
        int operands[3], count = clr_instruction_operands(instruction, operands);

        is_lazy[i] = instruction->opcode == CLR_OP_COLUMN;
        while (count > 0)
            is_lazy[operands[--count]] = false;
    }
    for (i = 0; i < scan->tally_count; i++) {
        const struct clr_tally *tally = &scan->tallies[i];

        if (tally->filter >= 0)
            is_lazy[tally->filter] = false;
        if (tally->y >= 0)
            is_lazy[tally->x] = is_lazy[tally->y] = false;
        else if (tally->x >= 0 && !only_adds(&plan->tallies[i]))
            is_lazy[tally->x] = false;
    }
    for (i = 0; i < plan->grouping.key_count && plan->numbering != CLR_NUMBERED_DIRECTLY; i++)
        is_lazy[plan->grouping.keys[i]] = false;
    if (scan->filter >= 0)
        is_lazy[scan->filter] = false;
}

void clr_group_part_begin(struct clr_group_part *part, int64_t **made)
{
    const struct clr_group_plan *plan = part->plan;
    const bool by_place = plan->numbering == CLR_NUMBERED_DIRECTLY;
    const size_t rows = part->most, record = plan->stride * sizeof(int64_t);
    enum clr_scan_outcome outcome = init_numbers(&part->numbers, plan, part->memory, rows);
    uint64_t i;

    if (outcome == CLR_SCAN_DONE)
        outcome = clr_group_addends_init(&part->addends, plan, part->memory, rows, &part->doubts);
    if (outcome == CLR_SCAN_DONE && by_place) {
        part->capacity = (size_t)plan->places;
        outcome = made != NULL
                      ? clr_room_adopt(&part->records, part->memory, part->capacity * record, *made)
                      : clr_room_make(&part->records, part->memory, part->capacity * record);
    } else if (outcome == CLR_SCAN_DONE) {
        outcome = clr_room_reserve(&part->records, rows * record);
    }
    if (outcome == CLR_SCAN_DONE && by_place && plan->grouping.by_first) {
        outcome = clr_room_make(&part->first_rows, part->memory, part->capacity * sizeof i);
        for (i = 0; outcome == CLR_SCAN_DONE && i < plan->places; i++)
            ((uint64_t *)part->first_rows.start)[i] = CLR_NO_ROW;
    }
    part->outcome = outcome;
    if (made != NULL && part->records.start == *made)
        *made = NULL;
    if (made != NULL && outcome == CLR_SCAN_DONE)
        take_first_rows(part);
}

struct clr_group_part *clr_group_part_new(const struct clr_group_plan *plan,
                                          struct clr_group_memory *memory, uint64_t first,
                                          size_t most)
{
    struct clr_group_part *part = clr_memory_alloc_zero(sizeof *part);

    if (part == NULL)
        return NULL;
    part->plan = plan;
    part->memory = memory;
    part->first = first;
    part->most = most;
    find_lazy(part);
    return part;
}

void clr_group_part_free(struct clr_group_part *part)
{
    if (part == NULL)
        return;
    free_numbers(&part->numbers);
    clr_group_addends_free(&part->addends);
    clr_room_free(&part->records, part->memory);
    clr_room_free(&part->first_rows, part->memory);
    clr_memory_free(part);
}

/* Lists the selected rows. The same ones as last time, all of them, need not be listed again. */
static void list_rows(struct clr_group_part *part, const uint64_t *selected)
{
    uint16_t *rows = part->rows;
    size_t count = 0, i;
    uint64_t word, all = UINT64_MAX;

    for (i = 0; i < CLR_BLOCK_WORDS; i++)
        all &= selected[i];
    if (all == UINT64_MAX && part->all_rows)
        return;
    part->all_rows = all == UINT64_MAX;
    for (i = 0; i < CLR_BLOCK_WORDS; i++)
        for (word = selected[i]; word != 0; word &= word - 1)
            rows[count++] = (uint16_t)(i * 64 + (size_t)__builtin_ctzll(word));
}

static void note_first_rows(struct clr_group_part *part, size_t count)
{
    const uint64_t first = part->first + part->seen;
    uint64_t *first_rows = part->first_rows.start;
    size_t i;

    for (i = 0; i < count; i++) {
        uint64_t *row = &first_rows[part->numbers.numbers[part->rows[i]]];
        if (*row == CLR_NO_ROW)
            *row = first + part->rows[i];
    }
}

/* Makes room for the records of all groups that have numbers. */
static enum clr_scan_outcome make_room(struct clr_group_part *part)
{
    const size_t most = part->most, count = clr_group_part_count(part);
    enum clr_scan_outcome outcome;
    size_t capacity;

    if (count <= part->capacity)
        return CLR_SCAN_DONE;
    capacity = count + count / 8 + CLR_BLOCK;
    capacity = capacity < most ? capacity : most;
    outcome =
        take_room(&part->records, part->memory, capacity * part->plan->stride * sizeof(int64_t));
    if (outcome == CLR_SCAN_DONE)
        part->capacity = capacity;
    return outcome;
}

/* Stores the last rows of runs. Returns false unless most rows of the block may be in long ones. */
static bool find_ends(const struct clr_group_part *part, const struct clr_block *block,
                      const uint64_t *selected, size_t count, uint64_t *ends)
{
    size_t i;

    if (count < CLR_BLOCK / 2)
        return false;
    if (!block->loops->find_ends(part->numbers.numbers, sizeof *part->numbers.numbers,
                                 CLR_MOST_RUNS, ends))
        return false;
    for (i = 0; i < CLR_BLOCK_WORDS; i++)
        ends[i] |= selected[i] ^
                   (selected[i] >> 1 | (i + 1 < CLR_BLOCK_WORDS ? selected[i + 1] << 63 : 0));
    ends[CLR_BLOCK_WORDS - 1] |= (uint64_t)1 << 63;
    return block->loops->count(ends) <= CLR_MOST_RUNS;
}

static void add(struct clr_group_part *part, const struct clr_block *block,
                const uint64_t *selected, size_t count, const int64_t *ahead)
{
    const struct clr_group_plan *plan = part->plan;
    uint64_t ends[CLR_BLOCK_WORDS];
    const struct clr_group_adding adding = {
        .records = part->records.start,
        .stride = plan->stride,
        .words = part->addends.words,
        .adds = plan->adds,
        .all = plan->words,
        .numbers = part->numbers.numbers,
        .rows = count == block->count ? NULL : part->rows,
        .count = count,
        .selected = selected,
        .ends = find_ends(part, block, selected, count, ends) ? ends : NULL,
        .ahead = ahead,
        .fetches = clr_group_part_count(part) * plan->stride * sizeof(int64_t) > NEAR};

    part->addends.loops->add(&adding);
}

/* Whether there is memory for groups of all rows, in all parts, and for two items to sort of each.
 */
static bool has_room_for_all(const struct clr_group_part *part)
{
    const size_t group =
        part->plan->stride * sizeof(int64_t) + sizeof(uint64_t) + 2 * sizeof(struct clr_group_slot);
    const int64_t left = (int64_t)atomic_load(&part->memory->left);

    return left > 0 && part->plan->scan->rows <= (uint64_t)left / 2 / group;
}

/* Where nearly all rows so far are groups of their own, and places are sorted in the end, groups
   need not be looked for before. Of rows in portions it is not known how many come. */
static void consider_appending(struct clr_group_part *part)
{
    const size_t some = part->most / 16 / CLR_BLOCK * CLR_BLOCK;
    struct clr_group_table *table = &part->numbers.table;

    if (clr_group_plan_sorts(part->plan) && part->seen == (some < SOME ? SOME : some) &&
        table->count > part->seen / 16 * 15 && has_room_for_all(part))
        append_keys(table);
}

static enum clr_scan_outcome take_block(void *taker, struct clr_block *block,
                                        const uint64_t *selected, size_t count)
{
    struct clr_group_part *part = taker;
    const int64_t *ahead = clr_block_ahead(block, NULL); /* for the loop that takes the longest */
    enum clr_scan_outcome outcome;

    list_rows(part, selected);
    outcome = find_numbers(&part->numbers, block, selected, part->rows, count, &part->doubts.keys);
    part->doubts.any = part->doubts.keys;
    if (outcome == CLR_SCAN_DONE && !part->doubts.any)
        outcome = make_room(part);
    if (outcome == CLR_SCAN_DONE && !part->doubts.any)
        outcome = clr_group_addends_find(&part->addends, block, selected, part->numbers.numbers);
    if (outcome == CLR_SCAN_DONE && part->doubts.any)
        outcome = CLR_SCAN_NOT_NOW;
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    if (part->first_rows.start != NULL)
        note_first_rows(part, count);
    add(part, block, selected, count, ahead);
    return CLR_SCAN_DONE;
}

static bool take_zones(void *taker, const struct clr_block *block, uint64_t *left, size_t *count)
{
    struct clr_group_part *part = taker;
    uint64_t *first_rows = part->first_rows.start, number;
    const int64_t *found = NULL;

    if (!clr_group_has_plain_keys(part->plan, block))
        return false;
    if (clr_group_find_only(part->plan, block, &number))
        found = clr_group_addends_of_block(&part->addends, block);
    if (found == NULL)
        return clr_group_take_runs(part->plan, &part->addends, part->records.start, block, left,
                                   count);
    clr_group_record_add(part->plan, found, clr_group_part_record(part, number));
    if (first_rows != NULL && first_rows[number] == CLR_NO_ROW)
        first_rows[number] = part->first + part->seen;
    *count = 0;
    return true;
}

static void begin_block(void *taker, struct clr_block *block)
{
    struct clr_group_part *part = taker;

    if (part->plan->by_codes)
        block->terms.stages[block->scan->grouping->keys[0]] = 0; /* nobody looks at its register */
    if (block->scan == part->plan->scan)
        consider_appending(part);
}

/* Few rows of a block are gathered, unless their places tell the order of the groups. */
void clr_group_part_take(struct clr_group_part *part, const struct clr_scan *scan, size_t first,
                         size_t last, const atomic_bool *stop)
{
    const struct clr_taking taking = {.take = take_block,
                                      .take_zones = take_zones,
                                      .begin = begin_block,
                                      .taker = part,
                                      .seen = &part->seen,
                                      .in_order = part->plan->grouping.by_first,
                                      .in_place = part->first_rows.start != NULL,
                                      .is_lazy = part->is_lazy};

    if (part->outcome == CLR_SCAN_DONE)
        part->outcome = clr_blocks_take(scan, first, last, &taking, stop);
}

void clr_group_part_end(struct clr_group_part *part)
{
    clr_room_free(&part->numbers.table.slots, part->memory); /* no more keys come */
}

void clr_group_part_run(struct clr_group_part *part, const atomic_bool *stop)
{
    const size_t first = (size_t)part->first;

    clr_group_part_begin(part, NULL);
    clr_group_part_take(part, part->plan->scan, first, first + part->most, stop);
    clr_group_part_end(part);
}
