#include "storage/stream/stream.h"
#include "base/memory.h"
#include "sqlite/acceleration/ways.h"
#include "storage/load/load.h"

#include <string.h>

/* Of column_memory a stream takes so large a part, and so many bytes at most, which is more than
   any number of threads makes good use of. Dictionaries that are new may take another part. */
enum { STREAM_PART = 4, MOST_BYTES = 256 << 20, DICTIONARIES_PART = 2 };

static int64_t stream_memory(int64_t budget)
{
    int64_t part = budget / STREAM_PART;
    return part < MOST_BYTES ? part : MOST_BYTES;
}

static enum clr_outcome refuse(struct clr_view_run *run, enum clr_reason_code why)
{
    clr_reason_set(&run->request.reason, why);
    return CLR_NEXT_WAY;
}

/* Takes note of a stream that did not come to its end; too_large: what is too large then. */
static enum clr_outcome give_up(struct clr_view_run *run, enum clr_load_outcome outcome,
                                enum clr_reason_code too_large,
                                const struct clr_load_report *report,
                                const struct clr_status *status)
{
    if (outcome == CLR_LOAD_TOO_LARGE)
        clr_reason_set(&run->request.reason, too_large);
    run->rc = clr_column_request_unread(&run->request, outcome, report, status);
    return run->rc == SQLITE_OK ? CLR_NEXT_WAY : CLR_ERROR;
}

/* ---- Codes. */

/* Collects the dictionaries of count fields, the scan's columns of these numbers, and keeps them;
   stores the rows that they are of. CLR_ANSWERED: they are all there. */
static enum clr_outcome collect(struct clr_view_run *run, const struct clr_field *fields,
                                const int *numbers, int count, size_t memory, int64_t used,
                                struct clr_dictionary **dictionaries, size_t *rows)
{
    struct clr_column_request *request = &run->request;
    struct clr_cached_table *table = request->image->table;
    struct clr_load_report report;
    enum clr_load_outcome outcome;
    struct clr_status status;
    int i;

    clr_status_clear(&status);
    outcome = clr_load_dictionaries(&request->snapshot.source, request->table->root, fields, count,
                                    memory, run->scan.seed, dictionaries, rows, run->watch, &report,
                                    &status);
    if (outcome != CLR_LOAD_DONE && outcome != CLR_LOAD_MANY_VALUES)
        return give_up(run, outcome, CLR_WHY_KEEPS_CODES, &report, &status);
    request->connection->stats.bytes_decoded += report.bytes_read;
    if (outcome == CLR_LOAD_MANY_VALUES) {
        const char *name = clr_column_request_info(request, numbers[report.field])->name;

        clr_column_request_has_many_values(request, name, &fields[report.field]);
        return CLR_NEXT_WAY;
    }
    atomic_store(&table->rows, *rows);
    clr_cache_lock();
    for (i = 0; i < count; i++)
        clr_kept_dictionary_add(&table->dictionaries, &fields[i], &request->snapshot.token,
                                dictionaries[i], used);
    clr_cache_unlock();
    return CLR_ANSWERED;
}

/* Gives the scan's columns with codes their dictionaries: those that are kept, or new ones; stores
   the rows that these are of, or else those of the table. */
static enum clr_outcome bring_dictionaries(struct clr_view_run *run, const struct clr_field *fields,
                                           size_t memory, int64_t used,
                                           struct clr_dictionary **dictionaries, size_t *rows)
{
    struct clr_column_request *request = &run->request;
    struct clr_dictionary *collected[CLR_MOST_COLUMNS];
    struct clr_field lacking[CLR_MOST_COLUMNS];
    int numbers[CLR_MOST_COLUMNS], count = 0, i;
    enum clr_outcome outcome;

    clr_cache_lock();
    for (i = 0; i < run->scan.column_count; i++) {
        if (!fields[i].with_codes)
            continue;
        dictionaries[i] = clr_dictionary_retain(clr_kept_dictionary_find(
            request->image->table->dictionaries, &fields[i], &request->snapshot.token, used));
        if (dictionaries[i] == NULL) {
            numbers[count] = i;
            lacking[count++] = fields[i];
        }
    }
    clr_cache_unlock();
    *rows = atomic_load(&request->image->table->rows);
    if (count == 0)
        return CLR_ANSWERED;
    clr_column_memory_trim(clr_column_memory() - (int64_t)memory, used);
    outcome = collect(run, lacking, numbers, count, memory, used, collected, rows);
    for (i = 0; i < count && outcome == CLR_ANSWERED; i++)
        dictionaries[numbers[i]] = collected[i];
    return outcome;
}

/* Gives the scan's columns with codes their dictionaries, as columns without rows, and the scan its
   lookups. memory: what new dictionaries may take. CLR_ANSWERED: that is done. */
static enum clr_outcome bring_codes(struct clr_view_run *run, const struct clr_field *fields,
                                    size_t memory, int64_t used, struct clr_column **columns)
{
    struct clr_dictionary *dictionaries[CLR_MOST_COLUMNS] = {NULL};
    size_t rows;
    enum clr_outcome outcome = bring_dictionaries(run, fields, memory, used, dictionaries, &rows);
    int i;

    for (i = 0; i < run->scan.column_count; i++) {
        if (outcome == CLR_ANSWERED && fields[i].with_codes) {
            columns[i] = clr_column_new_codes(dictionaries[i], 0, sizeof(uint32_t));
            if (columns[i] == NULL)
                outcome = refuse(run, CLR_WHY_SCAN_MEMORY);
            else
                columns[i]->rows = rows;
        }
        clr_dictionary_release(dictionaries[i]);
    }
    return outcome == CLR_ANSWERED ? clr_run_look_up(run, columns) : outcome;
}

/* ---- Rows. */

static enum clr_outcome stream_rows(struct clr_view_run *run, const struct clr_field *fields,
                                    int64_t memory)
{
    struct clr_column_request *request = &run->request;
    struct clr_connection *connection = request->connection;
    const bool is_grouped = run->scan.grouping != NULL;
    struct clr_load_report report;
    enum clr_load_outcome outcome;
    struct clr_status status;
    size_t rows;

    clr_status_clear(&status);
    outcome = clr_stream(&request->snapshot.source, request->table->root, fields, &run->scan,
                         (size_t)memory, &run->groups, &rows, run->watch, &report, &status);
    if (outcome != CLR_LOAD_DONE)
        return give_up(run, outcome, is_grouped ? CLR_WHY_VALUES_MEMORY : CLR_WHY_KEEPS_CODES,
                       &report, &status);
    run->scan.rows = rows;
    connection->stats.bytes_decoded += report.bytes_read;
    request->reading = (struct clr_reading){
        .kind = CLR_READ_STREAMED, .amount = connection->stats.bytes_decoded - request->decoded};
    atomic_store(&request->image->table->rows, rows);
    if (!clr_column_request_check_rows(request, rows))
        return CLR_NEXT_WAY;
    connection->stats.scans_on_host++;
    connection->stats.scans_streamed++;
    return CLR_ANSWERED;
}

/* Stores the fields of the scan's columns. Returns whether some have codes. */
static bool find_fields(const struct clr_view_run *run, struct clr_field *fields)
{
    const struct clr_column_request *request = &run->request;
    bool with_codes = false;
    int i;

    for (i = 0; i < run->scan.column_count; i++) {
        fields[i] = clr_column_field(request->query, request->table, false, i);
        with_codes = with_codes || fields[i].with_codes;
    }
    return with_codes;
}

enum clr_outcome clr_way_stream(struct clr_view_run *run)
{
    const int64_t budget = clr_column_memory(), memory = stream_memory(budget);
    int64_t used;
    struct clr_field fields[CLR_MOST_COLUMNS];
    enum clr_outcome outcome = CLR_ANSWERED;
    bool with_codes;

    /* The questions of groups keep what they need. */
    if (run->scan.grouping == NULL && run->scan.question_count > 0)
        return refuse(run, CLR_WHY_KEEPS_VALUES);
    with_codes = find_fields(run, fields);
    sqlite3_randomness(sizeof run->scan.seed, &run->scan.seed);
    used = clr_cache_scan();
    clr_run_release_columns(run);
    if (with_codes)
        outcome =
            bring_codes(run, fields, (size_t)(budget / DICTIONARIES_PART), used, run->columns);
    /* None of the columns that are kept is needed, and together they must leave room. */
    clr_column_memory_trim(budget - memory, used);
    if (outcome == CLR_ANSWERED) {
        run->scan.columns = run->columns;
        outcome = stream_rows(run, fields, memory);
        run->scan.columns = NULL;
    }
    return outcome;
}
