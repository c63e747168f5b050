/* Columns of codes that are streamed, and groups by them. */
#include "numeric/groups/groups.h"
#include "numeric/scan/scan.h"
#include "storage/streams.h"

enum { CODED = 2, GROUPS_MEMORY = 1 << 22 };

/* Columns c and o with codes; the rows' numbers by one lookup, and their groups by the other. */
struct coded {
    struct clr_dictionary *dictionaries[CODED];
    struct clr_column *columns[CODED];
    struct clr_lookup lookups[CODED];
    struct clr_instruction instructions[CODED];
    struct clr_tally tally;
    struct clr_grouping grouping;
    struct clr_scan scan;
};

static const struct clr_field coded_fields[CODED] = {{.index = 2, .with_codes = true},
                                                     {.index = 5, .with_codes = true}};

/* What is looked up for an entry: a number that follows from its value alone. */
static int64_t number_of(const struct clr_scalar *entry)
{
    if (entry->tag == CLR_TAG_BYTES)
        return (int64_t)clr_bytes_value(entry->bits).as.size % 10;
    return entry->bits % 10 + entry->tag;
}

/* Gives a lookup its results: false without memory. */
static bool look_up(const struct clr_dictionary *dictionary, struct clr_lookup *lookup)
{
    struct clr_lookup_results *results = clr_lookup_results_new(dictionary->count);

    for (uint32_t i = 0; results != NULL && i < dictionary->count; i++) {
        results->values[i] = number_of(&dictionary->entries[i]);
        results->tags[i] = CLR_TAG_INTEGER;
    }
    if (results != NULL)
        clr_lookup_set(lookup, results, dictionary->count);
    return results != NULL;
}

static void coded_free(struct coded *coded)
{
    for (int i = 0; i < CODED; i++) {
        clr_dictionary_release(coded->dictionaries[i]);
        clr_column_release(coded->columns[i]);
        clr_lookup_results_release(coded->lookups[i].results);
    }
}

/* Makes the scan over dictionaries, which are the scan's from then on. Returns false without
   memory; coded_free() is due in any case. */
static bool coded_make(struct coded *coded)
{
    for (int i = 0; i < CODED; i++) {
        coded->instructions[i] = (struct clr_instruction){CLR_OP_LOOKUP, i, i, -1};
        coded->columns[i] = clr_column_new_codes(coded->dictionaries[i], 0, sizeof(uint32_t));
        if (coded->columns[i] == NULL || !look_up(coded->dictionaries[i], &coded->lookups[i]))
            return false;
    }
    coded->tally = (struct clr_tally){.operations = 1u << CLR_SUM, .x = 0, .y = -1, .filter = -1};
    coded->grouping = (struct clr_grouping){.key_count = 1, .keys = {1}};
    coded->scan = (struct clr_scan){.instruction_count = CODED,
                                    .column_count = CODED,
                                    .lookup_count = CODED,
                                    .tally_count = 1,
                                    .filter = -1,
                                    .instructions = coded->instructions,
                                    .columns = coded->columns,
                                    .lookups = coded->lookups,
                                    .tallies = &coded->tally,
                                    .values_memory = GROUPS_MEMORY};
    return true;
}

/* Whether the groups' states together are that of all rows. */
static bool add_up(const struct clr_groups *groups, struct clr_state *all)
{
    struct clr_state sum, state;

    clr_state_clear(&sum);
    for (size_t i = 0; i < clr_groups_count(groups); i++) {
        clr_groups_state(groups, i, 0, &state);
        clr_state_merge(&sum, &state);
    }
    return sum.count == all->count && clr_sum_round(&sum.sum, 1) == clr_sum_round(&all->sum, 1);
}

/* Streams the dictionaries, the sum, and the groups. */
static enum clr_load_outcome stream_coded(const struct clr_source *source, uint32_t root,
                                          size_t memory, struct streamed *streamed, size_t *entries,
                                          bool *sound)
{
    struct clr_groups *groups = NULL;
    struct coded coded = {.grouping = {0}};
    enum clr_load_outcome outcome;
    size_t rows = 0;

    clr_status_clear(&streamed->status);
    outcome =
        clr_load_dictionaries(source, root, coded_fields, CODED, memory, 77, coded.dictionaries,
                              &streamed->rows, NULL, &streamed->report, &streamed->status);
    if (outcome == CLR_LOAD_DONE && !coded_make(&coded)) {
        clr_status_set(&streamed->status, CLR_NOMEM, 0, "no memory for the scan");
        outcome = CLR_LOAD_FAILED;
    }
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_stream(source, root, coded_fields, &coded.scan, memory, &groups, &rows, NULL,
                             &streamed->report, &streamed->status);
    coded.scan.grouping = &coded.grouping;
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_stream(source, root, coded_fields, &coded.scan, memory, &groups, &rows, NULL,
                             &streamed->report, &streamed->status);
    if (outcome == CLR_LOAD_DONE) {
        *entries = (size_t)coded.dictionaries[0]->count + coded.dictionaries[1]->count;
        *sound = rows == streamed->rows && coded.tally.state.count == (int64_t)rows &&
                 add_up(groups, &coded.tally.state);
    }
    clr_groups_free(groups);
    coded_free(&coded);
    return outcome;
}

/* INTEGERs of which each thread has met some, in rows that are not together. */
static void test_range(const struct clr_source *source, uint32_t root, sqlite3 *db)
{
    const struct clr_field field = {.index = 0, .with_codes = true};
    struct clr_dictionary *dictionary;
    struct clr_load_report report;
    struct clr_status status;
    size_t rows;

    tap_is_int64(clr_load_dictionaries(source, root, &field, 1, 1 << 22, 77, &dictionary, &rows,
                                       NULL, &report, &status),
                 CLR_LOAD_DONE, "the dictionary of a range");
    tap_is_int64((int64_t)dictionary->count, image_number(db, "SELECT count(DISTINCT i) FROM t"),
                 "has all that any thread has met");
    clr_dictionary_release(dictionary);
}

static void test_codes(const struct clr_source *source, uint32_t root, sqlite3 *db)
{
    const int64_t expected =
        image_number(db, "SELECT (SELECT count(*) FROM (SELECT DISTINCT c, typeof(c) FROM t)) + "
                         "(SELECT count(*) FROM (SELECT DISTINCT o FROM t))");
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;
    struct streamed streamed;
    bool sound = false, told = true;
    size_t entries = 0;
    int after;

    tap_is_int64(stream_coded(source, root, 1 << 22, &streamed, &entries, &sound), CLR_LOAD_DONE,
                 "streamed with codes");
    tap_is_int64((int64_t)entries, expected, "the dictionaries have all values");
    tap_ok(sound, "and the groups add up");
    tap_is_int64(stream_coded(source, root, 20000, &streamed, &entries, &sound), CLR_LOAD_TOO_LARGE,
                 "dictionaries that do not fit");
    for (after = 0; outcome == CLR_LOAD_FAILED && after < 2000; after++) {
        clr_memory_fail_after(after);
        outcome = stream_coded(source, root, 1 << 22, &streamed, &entries, &sound);
        clr_memory_fail_after(-1);
        if (outcome == CLR_LOAD_FAILED)
            told = told && streamed.status.code == CLR_NOMEM;
    }
    tap_is_int64(outcome, CLR_LOAD_DONE, "with codes when allocation %d would fail", after);
    tap_ok(told && sound && after > 50, "and before that no memory");
}

/* Rows without any column. */
static void test_count(const struct clr_source *source, uint32_t root, size_t expected)
{
    struct plain plain;
    struct clr_groups *groups;
    struct clr_load_report report;
    struct clr_status status;
    size_t rows;

    make_plain(&plain);
    plain.scan.instruction_count = plain.scan.column_count = 0;
    plain.scan.tally_count = 1;
    for (int turn = 0; turn < 2; turn++) { /* the states begin anew */
        tap_is_int64(
            clr_stream(source, root, NULL, &plain.scan, 0, &groups, &rows, NULL, &report, &status),
            CLR_LOAD_DONE, "streamed without a column");
        tap_ok(plain.tallies[0].state.count == (int64_t)expected && rows == expected,
               "counted: %zu", rows);
    }
}

static void test_unusual(const struct clr_source *source, sqlite3 *db)
{
    struct clr_field field_o = {.index = 5};
    struct clr_field added = {.index = 9, .missing = {.tag = CLR_TAG_UNSURE}};
    struct image image = {.fields = {field_i}, .count = 1};
    struct streamed streamed;
    uint32_t root = image_root(db, "t");

    tap_is_int64(stream_plain(source, root, field_o, NULL, &streamed), CLR_LOAD_UNSURE,
                 "a sum of BLOBs");
    tap_is_int64(stream_plain(source, root, added, NULL, &streamed), CLR_LOAD_UNSUPPORTED,
                 "a default that only SQLite knows");
    tap_is_int64(stream_plain(source, image_root(db, "w"), field_i, NULL, &streamed),
                 CLR_LOAD_UNSUPPORTED, "a table WITHOUT ROWID");
    tap_is_int64(stream_plain(source, image_root(db, "x"), field_i, NULL, &streamed),
                 CLR_LOAD_UNSUPPORTED, "an index");
    tap_is_int64(stream_plain(source, source->page_count + 1, field_i, NULL, &streamed),
                 CLR_LOAD_MALFORMED, "a root behind the end");
    tap_is_int64(streamed.report.page, source->page_count + 1, "which the report names");
    tap_is_int64(stream_plain(source, root, field_i, NULL, &streamed), CLR_LOAD_DONE, "streamed");
    tap_is_int64((int64_t)streamed.rows, image_number(db, "SELECT count(*) FROM t"), "all rows");
    test_count(source, root, streamed.rows);
    image_load(&image, source, root);
    tap_ok(streamed.report.bytes_read > image.report.bytes_read / 2 &&
               streamed.report.bytes_read < image.report.bytes_read * 2,
           "and %lld bytes, where a load has %lld", (long long)streamed.report.bytes_read,
           (long long)image.report.bytes_read);
    image_free(&image);
}

TAP_TEST(test_stream_codes)
{
    sqlite3 *db = new_database(512, 3000);
    struct image_bytes bytes = image_serialize(db);
    struct clr_source source = image_bytes_source(&bytes);

    test_codes(&source, image_root(db, "t"), db);
    test_range(&source, image_root(db, "t"), db);
    test_unusual(&source, db);
    image_close(db, &bytes);
}
