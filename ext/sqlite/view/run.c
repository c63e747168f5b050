#include "sqlite/view/run.h"

#include "base/memory.h"
#include "engine/host/host_groups.h"
#include "engine/host/host_scan.h"
#include "engine/operations/resident.h"
#include "engine/worker/runtime.h"
#include "numeric/filter/filter_terms.h"
#include "numeric/scan/shared_sums.h"
#include "sqlite/cache/cache.h"
#include "sqlite/cache/cache_memory.h"
#include "sqlite/lookups/subqueries.h"
#include "storage/load/load.h"
#include "storage/stream/stream.h"

#include <string.h>

/* Whether a run of which rc came so far is still to be answered, and not by SQLite. */
static bool goes_on(const struct clr_view_run *run, int rc)
{
    return rc == SQLITE_OK && run->request.reason.code == CLR_WHY_NONE && !run->request.is_outdated;
}

/* Has SQLite run the SELECT. */
static int refuse(struct clr_view_run *run, enum clr_reason_code why)
{
    clr_reason_set(&run->request.reason, why);
    return SQLITE_OK;
}

static void release_columns(struct clr_view_run *run)
{
    int i;

    for (i = 0; i < CLR_MOST_COLUMNS; i++) {
        clr_column_release(run->columns[i]);
        run->columns[i] = NULL;
    }
}

/* ---- Lookups. */

static void free_lookups(struct clr_view_run *run)
{
    while (run->lookup_count > 0)
        clr_lookup_free(&run->lookups[--run->lookup_count]);
}

/* token: of what is joined; NULL: it serves this view alone. */
static struct clr_lookup_input input_of(struct clr_view_run *run, const struct clr_column *column,
                                        const struct clr_database_version *token)
{
    return (struct clr_lookup_input){
        .table = run->request.image->table,
        .number = run->number,
        .token = token,
        .dictionary = column->dictionary,
        .encoding = run->plan->encoding,
        .version = run->version,
        .parameters = run->operands.values,
        .parameter_count = run->operands.count,
        .rows = column->rows,
        .database = run->request.database,
        .snapshot = run->request.no_pages == CLR_WHY_NONE ? &run->request.snapshot : NULL,
        .watch = run->watch};
}

/* Which versions of the databases that the query reads the connection sees: of the one that has the
   table, and of the others together. */
struct versions {
    unsigned own, others;
};

/* Finds them. Returns CLR_WHY_NONE, or why they are not known. */
static enum clr_reason_code read_versions(const struct clr_view_run *run, struct versions *versions)
{
    const struct clr_database *database = run->request.database;
    sqlite3 *db = run->request.connection->db;

    if ((!database->is_spared && sqlite3_txn_state(db, database->schema) == SQLITE_TXN_WRITE) ||
        sqlite3_file_control(db, database->schema, SQLITE_FCNTL_DATA_VERSION, &versions->own) !=
            SQLITE_OK)
        return CLR_WHY_UNCOMMITTED;
    return clr_table_names_version(&run->plan->names, database, &versions->others);
}

/* Of a dimension with more pages than a part of the fact table's entries it takes longer to find
   its pages than to evaluate the entries anew. */
enum { ENTRIES_PER_PAGE = 4, FEW_PAGES = 256 };

/* Finds out whether dimensions are what they were. Which pages subqueries read is not known: any
   commit counts. So does one to another database than the table's, and none to this one where
   nothing but the table is of it. */
static void renew_dimensions(struct clr_view_run *run, struct clr_column *const *columns,
                             const struct versions *versions)
{
    const struct clr_plan *plan = run->plan;
    const bool reads_own = plan->dimension_count > 0 || plan->query->looks_up_subqueries;
    struct clr_column_request *request = &run->request;
    size_t most = FEW_PAGES;
    int i;

    for (i = 0; i < plan->statement_count; i++)
        most += columns[plan->statements[i].column]->dictionary->count / ENTRIES_PER_PAGE;
    clr_tables_version_renew(
        run->dimensions, request->database,
        request->no_pages == CLR_WHY_NONE && reads_own && !plan->query->looks_up_subqueries
            ? &request->snapshot
            : NULL,
        reads_own ? versions->own : 0, plan->dimensions, plan->dimension_count, most, run->watch);
    run->version = run->dimensions->number + versions->others;
}

/* Returns the version of the database, if nothing else is joined, and others may see what is; else
   NULL. */
static const struct clr_database_version *find_token(const struct clr_view_run *run,
                                                     const struct versions *versions)
{
    return versions->others == 0 && run->request.no_pages == CLR_WHY_NONE &&
                   !run->request.database->is_spared
               ? &run->request.snapshot.token
               : NULL;
}

/* Brings the lookups of all statements to the run's, in the order of the query. brought: those of
   each statement, one after the other; they are the same. Returns as clr_lookups_bring(). */
static int bring_lookups(struct clr_view_run *run, struct clr_column *const *columns,
                         const struct clr_database_version *token, struct clr_lookup *brought)
{
    const struct clr_lookup_statement *statement = run->plan->statements;
    const struct clr_lookup_statement *end = statement + run->plan->statement_count;
    struct clr_lookup_memo *memo = run->memos;
    int rc = SQLITE_OK, k;

    memset(run->lookups, 0, (size_t)run->plan->query->lookup_count * sizeof *run->lookups);
    run->lookup_count = run->plan->query->lookup_count;
    for (; statement < end && goes_on(run, rc); statement++, memo++) {
        const struct clr_lookup_input input = input_of(run, columns[statement->column], token);

        rc = clr_lookups_bring(run->request.connection, memo, statement, &run->plan->functions,
                               &input, brought, &run->request.reason);
        if (run->request.reason.code == CLR_WHY_MANY_VALUES)
            clr_column_request_refuse_values(&run->request, statement->column);
        for (k = 0; k < statement->count; k++)
            run->lookups[statement->parts[k].number] = *brought++;
    }
    return rc;
}

/* Has the lookups be kept that were brought, and take the truths of rows that others have found. */
static void keep_lookups(struct clr_view_run *run, struct clr_column *const *columns,
                         const struct clr_database_version *token, const struct clr_lookup *brought)
{
    const struct clr_lookup_statement *statements = run->plan->statements;
    int i;

    for (i = 0; i < run->plan->statement_count; brought += statements[i++].count) {
        const struct clr_lookup_input input = input_of(run, columns[statements[i].column], token);

        clr_lookups_keep(run->request.connection, &run->memos[i], &statements[i], &input, brought);
    }
    for (i = 0; i < run->lookup_count; i++)
        clr_lookup_take_truths(&run->lookups[i]);
}

/* Brings the lookups over the columns, to which there are references, up to date, and gives them to
   the scan: then the database is what it was. */
static int look_up(struct clr_view_run *run, struct clr_column *const *columns)
{
    const struct clr_query *query = run->plan->query;
    const struct clr_lookup_statement *statements = run->plan->statements;
    const struct clr_database_version *token;
    struct clr_lookup brought[CLR_MOST_LOOKUPS];
    struct versions before = {0, 0}, after;
    enum clr_reason_code why = CLR_WHY_NONE;
    int rc, i;

    free_lookups(run);
    for (i = 0; i < run->plan->statement_count; i++) {
        const struct clr_column *column = columns[statements[i].column];
        /* SQLite is as quick over the rows, but where it joins each of them with others. */
        if (!statements[i].joins &&
            column->dictionary->count > column->rows / CLR_DICTIONARY_PART) {
            clr_column_request_refuse_values(&run->request, statements[i].column);
            return SQLITE_OK;
        }
    }
    if (query->lookup_count > 0)
        why = read_versions(run, &before);
    if (why != CLR_WHY_NONE)
        return refuse(run, why);
    if (query->lookup_count > 0 && (query->dimension_count > 0 || query->looks_up_subqueries))
        renew_dimensions(run, columns, &before);
    token = find_token(run, &before);
    rc = bring_lookups(run, columns, token, brought);
    /* A function of the application, which a lookup may have called, may have written. */
    if (goes_on(run, rc) && query->lookup_count > 0 &&
        (read_versions(run, &after) != CLR_WHY_NONE || memcmp(&before, &after, sizeof before) != 0))
        rc = refuse(run, CLR_WHY_UNCOMMITTED);
    if (!goes_on(run, rc)) {
        clr_tables_version_forget(run->dimensions);
        return rc;
    }
    keep_lookups(run, columns, token, brought);
    run->scan.lookup_count = query->lookup_count;
    run->scan.lookups = run->query_run->lookups = run->lookups;
    return SQLITE_OK;
}

/* ---- Scanning columns that are here. */

/* A device has neither the bytes of values nor a use for their addresses. Of codes it does not see
   what is too long for SQLite. Of all questions it answers those for bins alone. */
static bool is_for_devices(const struct clr_scan *scan)
{
    int i;

    for (i = 0; i < scan->question_count; i++) {
        if (scan->questions[i].kind != CLR_ASK_BINS)
            return false;
    }
    for (i = 0; i < scan->column_count; i++) {
        if (clr_column_has_addresses(scan->columns[i]) ||
            (scan->longest != 0 && clr_column_longest(scan->columns[i]) > scan->longest))
            return false;
    }
    return true;
}

/* Takes note of the zones that the scan's columns have got. */
static void measure_columns(const struct clr_view_run *run)
{
    const struct clr_column_request *request = &run->request;
    int i;

    clr_cache_lock();
    for (i = 0; i < run->scan.column_count; i++)
        clr_image_measure_column(request->image, request->found[i]);
    clr_cache_unlock();
}

/* Has the scan leave out what zones tell, of the columns as they are now. */
static void skip_blocks(struct clr_view_run *run)
{
    bool made;

    clr_host_skip(&run->scan, run->watch, &made);
    if (made)
        measure_columns(run);
}

/* Truths of rows take such a part of column_memory at most. */
enum { TRUTHS_PART = 16 };

/* Has the columns get sums for a scan of the host's, and lookups truths of rows, which takes as
   long as a scan of all rows: not for the first one of a column, which need not have a second one,
   and not before scans like this one have gone over as many rows. */
static void prepare_columns(struct clr_view_run *run)
{
    const int64_t all = (int64_t)run->request.image->layout.rows;
    bool are_used = true, made;
    int64_t hits;
    int i;

    clr_cache_lock();
    for (i = 0; i < run->scan.column_count; i++) {
        hits = run->request.found[i]->hits;
        are_used = are_used && hits > 1 && hits > all / ((int64_t)run->scan.rows + 1);
    }
    clr_cache_unlock();
    if (!are_used)
        return;
    clr_host_sum_blocks(&run->scan, run->watch, &made);
    if (made)
        measure_columns(run);
    clr_host_keep_truths(&run->scan, run->lookups, clr_column_memory() / TRUTHS_PART, run->watch);
}

/* Devices that are to do a scan. */
struct devices {
    struct clr_division division;
    struct clr_sharded *copies[CLR_MOST_COLUMNS];
    struct clr_device_scan asked;
};

/* Chooses the devices for a scan. Returns whether there are some that have the columns; then
   leave_devices() is due. For few rows it is the host that does it. */
static bool find_devices(const struct clr_view_run *run, struct devices *devices)
{
    const size_t rows = run->request.image->layout.rows;
    const struct clr_settings *settings = &run->request.connection->settings;
    struct clr_devices chosen;

    devices->asked = (struct clr_device_scan){.division = &devices->division,
                                              .copies = devices->copies,
                                              .timeout_ms = settings->device_timeout,
                                              .watch = run->watch};
    if (!is_for_devices(&run->scan) ||
        !clr_choose_devices(settings, run->scan.rows, rows, &chosen) ||
        !clr_cache_copies(run->request.connection, run->request.found, run->scan.column_count, rows,
                          &chosen, &devices->division, devices->copies))
        return false;
    clr_column_memory_trim(INT64_MAX, 0);
    return true;
}

static void note_skipped(struct clr_view_run *run)
{
    run->request.connection->stats.blocks_skipped +=
        (int64_t)(clr_zones_of(run->request.image->layout.rows) - clr_zones_of(run->scan.rows));
}

/* Takes note of what devices have done, or why they have not, and gives up the copies. */
static void leave_devices(struct clr_view_run *run, const struct devices *devices)
{
    const struct clr_device_scan *asked = &devices->asked;
    struct clr_stats *stats = &run->request.connection->stats;
    int i;

    if (asked->outcome == CLR_SCAN_DONE) {
        stats->bytes_to_device += asked->work.bytes;
        stats->kernels_launched += asked->work.kernels;
        stats->passes += asked->work.passes;
        stats->kernel_time += asked->work.kernel_time;
        stats->scans_on_device++;
        if (devices->division.count == 1)
            note_skipped(run);
        run->device = devices->division.shards[0].device.info->name;
        run->device_count = clr_division_devices(&devices->division);
    } else if (asked->outcome == CLR_SCAN_FAILED) {
        clr_stats_note_failure(stats, &asked->status);
    }
    for (i = 0; i < run->scan.column_count; i++)
        clr_sharded_release(devices->copies[i]);
}

/* Groups the rows: devices that have copies of the columns may do it, and where they fail, threads
   do. */
static enum clr_scan_outcome group(struct clr_view_run *run)
{
    struct devices devices;
    const bool has_devices = find_devices(run, &devices);
    enum clr_scan_outcome outcome;

    if (!has_devices)
        prepare_columns(run);
    outcome =
        clr_host_group(&run->scan, run->watch, has_devices ? &devices.asked : NULL, &run->groups);
    if (has_devices)
        leave_devices(run, &devices);
    return outcome;
}

/* Counts the rows that the scan's filter lets pass. */
static enum clr_scan_outcome count_found(const struct clr_view_run *run, uint64_t *count)
{
    struct clr_tally tally = {.x = -1, .y = -1, .filter = -1};
    struct clr_scan scan = run->scan;
    enum clr_scan_outcome outcome;

    scan.grouping = NULL;
    scan.tallies = &tally;
    scan.tally_count = 1;
    outcome = clr_host_scan(&scan, run->watch);
    *count = outcome == CLR_SCAN_DONE ? (uint64_t)tally.state.count : 0;
    return outcome;
}

static bool are_few(const struct clr_view_run *run, uint64_t count)
{
    return count <= run->request.image->layout.rows / (size_t)run->plan->rows_per_found;
}

/* Has the scan begin anew with another filter. */
static void set_filter(struct clr_view_run *run, int filter)
{
    clr_memory_free((void *)run->scan.blocks);
    run->scan.blocks = NULL;
    run->scan.rows = run->request.image->layout.rows;
    run->scan.filter = filter;
    skip_blocks(run);
}

/* Whether an instruction may be NULL, as far as the columns tell. */
static bool may_be_null(const struct clr_scan *scan, int number)
{
    const struct clr_instruction *instruction = &scan->instructions[number];
    const uint8_t kind = instruction->opcode == CLR_OP_COLUMN ? scan->columns[instruction->a]->kind
                                                              : (uint8_t)CLR_TAG_MIXED;

    return kind == CLR_TAG_MIXED || kind == CLR_TAG_NULL;
}

/* Has the filter of the query let pass what is not behind the bound, too. */
static void set_bound(struct clr_view_run *run, const struct clr_scalar *bound)
{
    const struct clr_first_rows *first = &run->plan->query->first;

    run->query_run->constants[first->bound] = *bound;
    set_filter(run, may_be_null(&run->scan, first->key) ? first->filter_or_null : first->filter);
}

/* Finds the bound of so many first rows in the query's order, and with it all that are equal to the
   last of them: first those before a bound that is certain to have them. Stores a number that is
   not below that of the rows which pass then. */
static enum clr_scan_outcome find_bound(struct clr_view_run *run, uint64_t wanted, uint64_t *count)
{
    const struct clr_first_rows *first = &run->plan->query->first;
    const struct clr_scan_order order = {.key = first->key, .descends = first->descends};
    enum clr_scan_outcome outcome;
    struct clr_scalar bound;
    uint64_t nulls;

    outcome = clr_host_guess_place(&run->scan, &order, wanted - 1, run->watch, &bound);
    if (outcome == CLR_SCAN_DONE && bound.tag != CLR_TAG_NULL)
        set_bound(run, &bound);
    if (outcome == CLR_SCAN_DONE)
        outcome =
            clr_host_find_place(&run->scan, &order, wanted - 1, run->watch, &bound, count, &nulls);
    if (outcome != CLR_SCAN_DONE || bound.tag == CLR_TAG_NULL)
        return outcome;
    /* Where NULLs are enough they come first: else none of them passes. */
    if (nulls >= wanted && first->filter_or_null != first->filter)
        bound = (struct clr_scalar){.tag = CLR_TAG_NULL};
    set_bound(run, &bound);
    return are_few(run, *count) ? outcome : count_found(run, count);
}

/* Stores the key of each group's first rows, by the group's rank, from 1; NULL is 0. Returns NULL
   without memory. */
static struct clr_scalar *list_extremes(const struct clr_groups *groups, size_t ranks, int sign)
{
    struct clr_scalar *list = clr_memory_alloc_zero((ranks + 1) * sizeof *list);
    struct clr_state state;
    struct clr_value value;
    size_t i;

    for (i = 0; list != NULL && i < clr_groups_count(groups); i++) {
        const struct clr_scalar rank = clr_groups_key(groups, i, 0);

        clr_groups_state(groups, i, 0, &state);
        clr_state_extreme(&state, sign, &value);
        list[rank.tag == CLR_TAG_NULL ? 0 : rank.bits + 1] = clr_number_scalar(&value);
    }
    return list;
}

/* Makes the lookup of the groups' extremes, of the column whose ranks a lookup has. Returns false
   without memory. */
static bool look_extremes_up(struct clr_view_run *run, const struct clr_groups *groups)
{
    const struct clr_query *query = run->plan->query;
    const struct clr_lookup *group = &run->lookups[query->instructions[query->first.group].b];
    struct clr_scalar *list =
        list_extremes(groups, group->ranked_count, query->first.descends ? 1 : -1);
    struct clr_lookup *lookup = &run->lookups[query->lookup_count];
    uint32_t i;

    clr_lookup_results_release(run->extremes);
    run->extremes = clr_lookup_results_new(group->count);
    for (i = 0; i < group->count && list != NULL && run->extremes != NULL; i++) {
        const uint8_t tag = clr_lookup_tag(group, i);
        const struct clr_scalar *extreme = &list[tag == CLR_TAG_INTEGER ? group->values[i] + 1 : 0];

        if (tag == CLR_TAG_UNSURE)
            continue;
        run->extremes->tags[i] = extreme->tag;
        run->extremes->values[i] = extreme->bits;
    }
    clr_memory_free(list);
    if (list == NULL || run->extremes == NULL)
        return false;
    *lookup = (struct clr_lookup){.count = 0};
    clr_lookup_set(lookup, run->extremes, group->count);
    run->scan.lookup_count = query->lookup_count + 1;
    return true;
}

/* Finds the first key of each group among the rows that a filter lets pass. Stores how many groups
   there are. */
static enum clr_scan_outcome find_next_extremes(struct clr_view_run *run, int filter,
                                                uint64_t *count)
{
    const struct clr_first_rows *first = &run->plan->query->first;
    const struct clr_grouping grouping = {.key_count = 1, .keys = {first->group}};
    struct clr_tally tally = {.operations =
                                  1u << CLR_EXTREMES | (first->descends ? CLR_GREATEST : CLR_LEAST),
                              .x = first->key,
                              .y = -1,
                              .filter = -1};
    struct clr_scan scan = run->scan;
    struct clr_groups *groups = NULL;
    enum clr_scan_outcome outcome;

    scan.filter = filter;
    scan.grouping = &grouping;
    scan.tallies = &tally;
    scan.tally_count = 1;
    outcome = clr_host_group(&scan, run->watch, NULL, &groups);
    *count = outcome == CLR_SCAN_DONE ? clr_groups_count(groups) : 0;
    if (outcome == CLR_SCAN_DONE && are_few(run, *count) && !look_extremes_up(run, groups))
        outcome = CLR_SCAN_FAILED;
    clr_groups_free(groups);
    return outcome;
}

/* Has the scan's filter let those rows pass that have the first keys of their group, so many.
   Stores a number that is not below theirs. */
static enum clr_scan_outcome find_extremes(struct clr_view_run *run, uint64_t keys, uint64_t *count)
{
    const struct clr_first_rows *first = &run->plan->query->first;
    enum clr_scan_outcome outcome = find_next_extremes(run, run->scan.filter, count);
    uint64_t further, i;

    for (i = 1; i < keys && outcome == CLR_SCAN_DONE && are_few(run, *count); i++)
        outcome = find_next_extremes(run, first->beyond, &further);
    if (outcome != CLR_SCAN_DONE || !are_few(run, *count))
        return outcome;
    set_filter(run, first->filter);
    return count_found(run, count);
}

/* Stores the INTEGER that a constant is, 0 if it is negative. Returns whether it is one: SQLite
   converts some values, and has an error for others. */
static bool read_count(const struct clr_query_run *run, int constant, uint64_t *count)
{
    const struct clr_scalar *value = &run->constants[constant < 0 ? 0 : constant];

    if (constant < 0)
        return true;
    *count = value->bits < 0 ? 0 : (uint64_t)value->bits;
    return value->tag == CLR_TAG_INTEGER;
}

/* Returns how many rows SQLite needs of the first ones in the query's order; 0: none, or all, or it
   is not known. */
static uint64_t find_wanted(const struct clr_query_run *run)
{
    const struct clr_first_rows *first = &run->query->first;
    uint64_t limit = 1, offset = 0;

    return first->key >= 0 && read_count(run, first->limit, &limit) &&
                   read_count(run, first->offset, &offset) && limit > 0
               ? limit + offset
               : 0;
}

/* Finds out whether the rows that a query of rows asks for are few. SQLite fetches them one by one:
   where they are many it is as quick to go over all of them. */
static enum clr_scan_outcome find_rows(struct clr_view_run *run)
{
    const struct clr_first_rows *first = &run->plan->query->first;
    const uint64_t wanted = find_wanted(run->query_run);
    const uint64_t keys = first->limit < 0 ? (uint64_t)first->keys : wanted - first->is_beyond;
    const int filter = run->plan->query->filter;
    enum clr_scan_outcome outcome = CLR_SCAN_UNSURE;
    uint64_t count;

    if (wanted > 0 && first->group >= 0 && keys <= (uint64_t)first->keys) {
        outcome = find_extremes(run, keys, &count);
    } else if (wanted > 0 && first->group < 0 && are_few(run, wanted)) {
        outcome = find_bound(run, wanted, &count);
    } else if (filter < 0) {
        clr_reason_set_numbers(&run->request.reason, CLR_WHY_LIMIT_VALUE, run->plan->rows_per_found,
                               0);
        return CLR_SCAN_LIMIT;
    }
    if (outcome == CLR_SCAN_UNSURE || outcome == CLR_SCAN_LIMIT) {
        set_filter(run, filter);
        outcome = count_found(run, &count);
    }
    if (outcome != CLR_SCAN_DONE || are_few(run, count))
        return outcome;
    clr_reason_set_numbers(&run->request.reason, CLR_WHY_MANY_ROWS, run->plan->rows_per_found, 0);
    return CLR_SCAN_LIMIT;
}

/* Computes the tallies on the host. */
static enum clr_scan_outcome scan_on_host(struct clr_view_run *run)
{
    struct clr_connection *connection = run->request.connection;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (run->plan->query->has_rows)
        outcome = find_rows(run);
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    if (run->scan.grouping != NULL) {
        outcome = group(run);
    } else {
        prepare_columns(run);
        outcome = clr_host_scan(&run->scan, run->watch);
    }
    if (outcome != CLR_SCAN_DONE || run->device != NULL)
        return outcome;
    connection->stats.scans_on_host++;
    note_skipped(run);
    return outcome;
}

/* On devices, or else on the host. */
static enum clr_scan_outcome scan_anywhere(struct clr_view_run *run)
{
    enum clr_scan_outcome outcome = CLR_SCAN_NOT_NOW;
    struct devices devices;

    if (run->scan.grouping == NULL && find_devices(run, &devices)) {
        outcome = clr_resident_scan(&devices.asked, &run->scan);
        leave_devices(run, &devices);
    }
    return outcome == CLR_SCAN_NOT_NOW || outcome == CLR_SCAN_FAILED ? scan_on_host(run) : outcome;
}

static bool has_key(const struct clr_kept_answer *kept, const struct clr_answer_key *key)
{
    return kept->values != NULL && key->bytes != NULL && kept->key.size == key->size &&
           memcmp(kept->key.bytes, key->bytes, (size_t)key->size) == 0;
}

/* Whether the answer is kept from before, of the same version, for lookups as they are now. */
static bool is_kept(struct clr_view_run *run)
{
    struct clr_connection *connection = run->request.connection;

    if (run->kept == NULL)
        return false;
    sqlite3_free(run->key.bytes);
    run->key = clr_answer_key_make(&run->request.snapshot.token, run->request.deriving,
                                   connection->settings_changes, run->query_run, run->lookups,
                                   run->columns);
    run->is_kept = has_key(run->kept, &run->key);
    connection->stats.answers_kept += run->is_kept;
    return run->is_kept;
}

/* Scans the columns, to which there are references. */
static int scan_columns(struct clr_view_run *run)
{
    struct clr_column_request *request = &run->request;
    struct clr_shared_sums *shared = NULL;
    enum clr_scan_outcome outcome;
    int rc;

    if (run->scan.grouping != NULL && run->scan.grouping->by_first &&
        !clr_layout_is_in_order(&request->image->layout))
        return refuse(run, CLR_WHY_ROWS_MOVED);
    rc = look_up(run, run->columns);
    if (!goes_on(run, rc))
        return rc;
    request->is_scanned = true;
    if (is_kept(run))
        return SQLITE_OK;
    skip_blocks(run);
    if (run->scan.grouping == NULL && run->scan.question_count == 0)
        shared = clr_shared_sums_begin(&run->scan);
    outcome = scan_anywhere(run);
    if (!clr_shared_sums_end(shared, &run->scan, outcome == CLR_SCAN_DONE))
        outcome = scan_anywhere(run);
    clr_column_memory_trim(clr_column_memory(), 0);
    switch (outcome) {
    case CLR_SCAN_DONE:
        return SQLITE_OK;
    case CLR_SCAN_STOPPED:
        return SQLITE_INTERRUPT;
    case CLR_SCAN_UNSURE:
        return refuse(run, CLR_WHY_VALUE);
    case CLR_SCAN_LIMIT:
        return request->reason.code == CLR_WHY_NONE ? refuse(run, CLR_WHY_VALUES_MEMORY)
                                                    : SQLITE_OK;
    default:
        return refuse(run, CLR_WHY_SCAN_MEMORY);
    }
}

/* Returns a new number of a scan, later than all others. */
static int64_t new_scan(void)
{
    static atomic_int_least64_t scans; /* so far */

    return atomic_fetch_add(&scans, 1) + 1;
}

/* Counts the scan of that number, which uses these columns, which are pinned, and stores what they
   have, with references. */
static void use_columns(struct clr_image_column *const *found, int count, int64_t number,
                        struct clr_column **columns)
{
    int i;

    clr_cache_lock();
    for (i = 0; i < count; i++) {
        found[i]->hits++;
        found[i]->used = number;
        columns[i] = clr_column_retain(found[i]->column);
    }
    clr_cache_unlock();
}

/* Scans the columns that the request has, on a device or the host. */
static int scan_image(struct clr_view_run *run)
{
    struct clr_column_request *request = &run->request;
    int rc;

    if (!clr_column_request_check_rows(request, request->image->layout.rows))
        return SQLITE_OK;
    release_columns(run);
    run->scan.columns = run->query_run->columns = run->columns;
    run->scan.rows = request->image->layout.rows;
    sqlite3_randomness(sizeof run->scan.seed, &run->scan.seed);
    run->number = new_scan();
    use_columns(request->found, run->scan.column_count, run->number, run->columns);
    rc = scan_columns(run);
    clr_memory_free((void *)run->scan.blocks);
    run->scan.blocks = NULL;
    run->scan.rows = request->image->layout.rows;
    run->scan.columns = NULL;
    return rc;
}

/* ---- Streaming. */

/* Of column_memory a stream takes so large a part, and so many bytes at most, which is more than
   any number of threads makes good use of. Dictionaries that are new may take another part. */
enum { STREAM_PART = 4, MOST_BYTES = 256 << 20, DICTIONARIES_PART = 2 };

static int64_t stream_memory(int64_t budget)
{
    int64_t part = budget / STREAM_PART;
    return part < MOST_BYTES ? part : MOST_BYTES;
}

/* Takes note of pages of columns of these fields that passed; too_large: what was too large, if
   anything was. */
static int take_note(struct clr_view_run *run, enum clr_load_outcome outcome,
                     enum clr_reason_code too_large, const struct clr_field *fields,
                     const struct clr_load_report *report, const struct clr_status *status)
{
    if (outcome == CLR_LOAD_TOO_LARGE)
        clr_reason_set(&run->request.reason, too_large);
    return clr_column_request_read(&run->request, outcome, fields, report, status);
}

/* ---- Codes. */

/* Collects the dictionaries of count fields, the scan's columns of these numbers, and keeps them;
   stores the rows that they are of.
   *complete says whether they are all there. */
static int collect(struct clr_view_run *run, const struct clr_field *fields, int count,
                   size_t memory, struct clr_dictionary **dictionaries, size_t *rows,
                   bool *complete)
{
    struct clr_column_request *request = &run->request;
    struct clr_cached_table *table = request->image->table;
    struct clr_load_report report;
    enum clr_load_outcome outcome;
    struct clr_status status;
    int rc, i;

    clr_status_clear(&status);
    outcome = clr_load_dictionaries(&request->snapshot.source, request->table->root, fields, count,
                                    memory, run->scan.seed, dictionaries, rows, run->watch, &report,
                                    &status);
    rc = take_note(run, outcome, CLR_WHY_KEEPS_CODES, fields, &report, &status);
    *complete = outcome == CLR_LOAD_DONE;
    if (!*complete)
        return rc;
    atomic_store(&table->rows, *rows);
    clr_cache_lock();
    for (i = 0; i < count; i++)
        clr_kept_dictionary_add(&table->dictionaries, &fields[i], &request->snapshot.token,
                                dictionaries[i], run->number);
    clr_cache_unlock();
    return SQLITE_OK;
}

/* Gives the scan's columns with codes their dictionaries: those that are kept, or new ones; stores
   the rows that these are of, or else those of the table. *complete says whether that is done. */
static int bring_dictionaries(struct clr_view_run *run, const struct clr_field *fields,
                              size_t memory, struct clr_dictionary **dictionaries, size_t *rows,
                              bool *complete)
{
    struct clr_column_request *request = &run->request;
    struct clr_dictionary *collected[CLR_MOST_COLUMNS];
    struct clr_field lacking[CLR_MOST_COLUMNS];
    int numbers[CLR_MOST_COLUMNS], count = 0, rc, i;

    clr_cache_lock();
    for (i = 0; i < run->scan.column_count; i++) {
        if (!fields[i].with_codes)
            continue;
        dictionaries[i] = clr_dictionary_retain(
            clr_kept_dictionary_find(request->image->table->dictionaries, &fields[i],
                                     &request->snapshot.token, run->number));
        if (dictionaries[i] == NULL) {
            numbers[count] = i;
            lacking[count++] = fields[i];
        }
    }
    clr_cache_unlock();
    *rows = atomic_load(&request->image->table->rows);
    *complete = count == 0;
    if (count == 0)
        return SQLITE_OK;
    clr_column_memory_trim(clr_column_memory() - (int64_t)memory, run->number);
    rc = collect(run, lacking, count, memory, collected, rows, complete);
    for (i = 0; i < count && *complete; i++)
        dictionaries[numbers[i]] = collected[i];
    return rc;
}

/* Gives the scan's columns with codes their dictionaries, as columns without rows, and the scan its
   lookups. memory: what new dictionaries may take. *complete says whether that is done. */
static int bring_codes(struct clr_view_run *run, const struct clr_field *fields, size_t memory,
                       struct clr_column **columns, bool *complete)
{
    struct clr_dictionary *dictionaries[CLR_MOST_COLUMNS] = {NULL};
    size_t rows;
    int rc = bring_dictionaries(run, fields, memory, dictionaries, &rows, complete), i;

    for (i = 0; i < run->scan.column_count; i++) {
        if (*complete && fields[i].with_codes) {
            columns[i] = clr_column_new_codes(dictionaries[i], 0, sizeof(uint32_t));
            *complete = columns[i] != NULL;
            if (*complete)
                columns[i]->rows = rows;
            else
                rc = refuse(run, CLR_WHY_SCAN_MEMORY);
        }
        clr_dictionary_release(dictionaries[i]);
    }
    if (*complete)
        rc = look_up(run, columns);
    *complete = *complete && goes_on(run, rc);
    return rc;
}

/* ---- Rows. */

static int stream_rows(struct clr_view_run *run, const struct clr_field *fields, int64_t memory)
{
    struct clr_column_request *request = &run->request;
    struct clr_connection *connection = request->connection;
    const bool is_grouped = run->scan.grouping != NULL;
    struct clr_load_report report;
    enum clr_load_outcome outcome;
    struct clr_status status;
    size_t rows;
    int rc;

    clr_status_clear(&status);
    outcome = clr_stream(&request->snapshot.source, request->table->root, fields, &run->scan,
                         (size_t)memory, &run->groups, &rows, run->watch, &report, &status);
    rc = take_note(run, outcome, is_grouped ? CLR_WHY_VALUES_MEMORY : CLR_WHY_KEEPS_CODES, fields,
                   &report, &status);
    if (outcome != CLR_LOAD_DONE)
        return rc;
    run->scan.rows = rows;
    request->reading = (struct clr_reading){
        .kind = CLR_READ_STREAMED, .amount = connection->stats.bytes_decoded - request->decoded};
    atomic_store(&request->image->table->rows, rows);
    if (clr_column_request_check_rows(request, rows)) {
        connection->stats.scans_on_host++;
        connection->stats.scans_streamed++;
    }
    return SQLITE_OK;
}

/* Stores the fields of the scan's columns. Returns whether some have codes. */
static bool find_fields(const struct clr_view_run *run, struct clr_field *fields)
{
    const struct clr_column_request *request = &run->request;
    bool with_codes = false;
    int i;

    for (i = 0; i < run->scan.column_count; i++) {
        fields[i] = clr_column_request_field(request, i);
        with_codes = with_codes || fields[i].with_codes;
    }
    return with_codes;
}

/* Scans the table, whose pages the request has, while they pass, and keeps no column. */
static int stream(struct clr_view_run *run)
{
    const int64_t budget = clr_column_memory(), memory = stream_memory(budget);
    struct clr_field fields[CLR_MOST_COLUMNS];
    bool with_codes, complete = true;
    int rc = SQLITE_OK;

    /* The questions of groups keep what they need. The first rows in an order are not known before
       all have passed. */
    if ((run->scan.grouping == NULL && run->scan.question_count > 0) ||
        (run->plan->query->has_rows && run->scan.filter < 0))
        return refuse(run, CLR_WHY_KEEPS_VALUES);
    with_codes = find_fields(run, fields);
    sqlite3_randomness(sizeof run->scan.seed, &run->scan.seed);
    run->number = new_scan();
    release_columns(run);
    if (with_codes)
        rc =
            bring_codes(run, fields, (size_t)(budget / DICTIONARIES_PART), run->columns, &complete);
    if (complete && is_kept(run)) {
        run->request.reading.kind = CLR_READ_STREAMED;
        return rc;
    }
    /* None of the columns that are kept is needed, and together they must leave room. */
    clr_column_memory_trim(budget - memory, run->number);
    if (complete) {
        run->scan.columns = run->columns;
        rc = stream_rows(run, fields, memory);
        run->scan.columns = NULL;
    }
    return rc;
}

/* ---- All. */

/* Has the table's pages: the image of this version has the columns, or they are loaded; where they
   do not fit, the table is streamed. */
static int read_pages(struct clr_view_run *run)
{
    struct clr_column_request *request = &run->request;
    int rc = clr_columns_bring(request, false);

    if (goes_on(run, rc) && request->no_pages == CLR_WHY_NONE && !request->has_columns)
        rc = request->query->has_derived ? refuse(run, CLR_WHY_ROWS_TOO_LARGE) : stream(run);
    return rc;
}

/* Has columns that SQLite fills: the image has them, or they are filled now. */
static int read_rows(struct clr_view_run *run)
{
    struct clr_column_request *request = &run->request;

    if (request->query->has_derived)
        return refuse(run, CLR_WHY_ROW_EXPRESSION);
    clr_column_request_end(request); /* of pages, if they were begun */
    return clr_columns_bring(request, true);
}

/* In the transaction of the scan SQLite evaluates the query's subqueries, too: a read transaction
   that a statement begins ends with the last one that reads, and the one that reads the view is
   running. */
int clr_view_run_answer(struct clr_view_run *run)
{
    struct clr_column_request *request = &run->request;
    int rc = SQLITE_OK;

    if (goes_on(run, rc) && request->no_pages == CLR_WHY_NONE)
        rc = read_pages(run);
    if (goes_on(run, rc) && request->no_pages != CLR_WHY_NONE)
        rc = read_rows(run);
    if (goes_on(run, rc) && request->has_columns)
        rc = scan_image(run);
    if (goes_on(run, rc))
        rc = clr_finish_subqueries_check(request->connection->db, run->plan->query,
                                         run->operands.first, NULL, &request->reason);
    run->is_answered =
        goes_on(run, rc) && (request->has_columns || request->reading.kind == CLR_READ_STREAMED);
    clr_column_request_end(request);
    return rc;
}

void clr_view_run_end(struct clr_view_run *run)
{
    int i;

    clr_query_run_free(run->query_run);
    sqlite3_free(run->key.bytes);
    run->key.bytes = NULL;
    for (i = run->operands.first; i < run->operands.count; i++)
        sqlite3_value_free(run->operands.values[i]);
    sqlite3_free((void *)run->operands.values);
    run->operands = (struct clr_operands){.values = NULL};
    clr_groups_free(run->groups);
    clr_lookup_results_release(run->extremes);
    free_lookups(run);
    release_columns(run);
    run->query_run = NULL;
    run->extremes = NULL;
    run->groups = NULL;
}
