#include "numeric/filter/bounds.h"
#include "sqlite/acceleration/ways.h"

#include <string.h>

/* So many values of a part's rows are not worth a load of the table. */
enum { PART_VALUES = 1024 };

/* ---- What is known without results. */

/* Whether TEXT is no number to SQLite, which would make one of it to compare it with a column of
   numeric affinity; false also for some that is none. No number goes on behind a digit with a sign,
   as a date does. */
static bool is_no_number(const char *text, size_t size)
{
    size_t i;

    for (i = 0; i < size; i++) {
        if (text[i] != '\0' && strchr("0123456789+-.eE \t\n\v\f\r", text[i]) == NULL)
            return true;
        if (i > 0 && (text[i] == '-' || text[i] == '+') && text[i - 1] >= '0' && text[i - 1] <= '9')
            return true;
    }
    return false;
}

/* Stores the value that SQLite compares a lookup's column with: after the affinity that it applies
   to the constant. Returns false if that is not known. */
static bool find_constant(const struct clr_view_run *run, const struct clr_lookup_plan *plan,
                          const struct clr_compared *compared, struct clr_value *value)
{
    sqlite3_value *given = NULL;

    *value = (struct clr_value){
        .kind = CLR_KIND_TEXT, .as.size = compared->size, .bytes = compared->text};
    if (compared->parameter > 0) {
        if (compared->parameter <= run->parameter_count)
            given = run->parameters[compared->parameter - 1];
        if (given == NULL)
            return false;
        if (sqlite3_value_type(given) != SQLITE_TEXT) {
            *value = clr_number_value(clr_scalar_of(given));
            return sqlite3_value_type(given) != SQLITE_BLOB &&
                   (!plan->is_text || value->kind == CLR_KIND_NONE);
        }
        value->bytes = sqlite3_value_text(given);
        value->as.size = (size_t)sqlite3_value_bytes(given);
    }
    /* BINARY goes by the bytes of the database's own encoding. */
    return run->plan->encoding == SQLITE_UTF8 && value->bytes != NULL &&
           (!plan->is_numeric || is_no_number(value->bytes, value->as.size));
}

void clr_run_know_lookups(struct clr_view_run *run)
{
    const struct clr_query *query = run->plan->query;
    int i, k;

    for (i = 0; i < query->lookup_count; i++) {
        const struct clr_lookup_plan *plan = &query->lookups[i];
        struct clr_lookup_known *known = &run->known_lookups[i];

        *known = (struct clr_lookup_known){.is_sure = plan->is_sure};
        for (k = 0; k < plan->compared_count; k++) {
            const struct clr_compared *compared = &plan->compared[k];
            struct clr_value_range range;
            struct clr_value value;

            if (!find_constant(run, plan, compared, &value))
                continue;
            range = clr_comparison_range(compared->opcode, &value);
            known->range = clr_value_range_intersect(&known->range, &range);
        }
    }
    run->scan.known_lookups = run->known_lookups;
}

/* ---- Results. */

/* The bytes of the entries come from pages as they are, or by way of SQLite, in UTF-8. */
static struct clr_lookup_input input_of(const struct clr_view_run *run,
                                        const struct clr_column *column)
{
    const bool is_filled = run->request.source == &clr_row_source;

    return (struct clr_lookup_input){.dictionary = column->dictionary,
                                     .encoding = is_filled ? SQLITE_UTF8 : run->plan->encoding,
                                     .is_copy = is_filled && run->plan->encoding != SQLITE_UTF8,
                                     .parameters = run->parameters,
                                     .parameter_count = run->parameter_count};
}

/* Says which version of the database the connection sees. Returns false if it is writing. */
static bool read_version(const struct clr_view_run *run, unsigned *version)
{
    const struct clr_database *database = run->request.database;
    sqlite3 *db = run->request.connection->db;

    return sqlite3_txn_state(db, database->schema) != SQLITE_TXN_WRITE &&
           sqlite3_file_control(db, database->schema, SQLITE_FCNTL_DATA_VERSION, version) ==
               SQLITE_OK;
}

static enum clr_outcome refuse_values(struct clr_view_run *run, const struct clr_lookup_plan *plan)
{
    const char *name = clr_column_request_info(&run->request, plan->column)->name;

    clr_reason_set_name(&run->request.reason, CLR_WHY_MANY_VALUES, name, strlen(name));
    return CLR_NEXT_WAY;
}

enum clr_outcome clr_run_look_up(struct clr_view_run *run, struct clr_column *const *columns)
{
    const struct clr_query *query = run->plan->query;
    struct clr_connection *connection = run->request.connection;
    unsigned before = 0, after = 0;
    bool is_known;
    int i;

    for (i = 0; i < query->lookup_count; i++) {
        const struct clr_column *column = columns[query->lookups[i].column];
        /* SQLite is as quick over the rows, unless they are few. */
        if (column->dictionary->count > column->rows / CLR_DICTIONARY_PART &&
            !(run->way == CLR_WAY_PART && column->dictionary->count < PART_VALUES))
            return refuse_values(run, &query->lookups[i]);
    }
    is_known = query->lookup_count > 0 && read_version(run, &before);
    for (i = 0; i < query->lookup_count; i++) {
        const struct clr_lookup_input input = input_of(run, columns[query->lookups[i].column]);

        run->rc = clr_lookup_memo_bring(connection, &run->memos[i], &run->plan->lookups[i],
                                        &run->plan->functions, &input, &run->request.reason);
        if (run->rc != SQLITE_OK)
            return CLR_ERROR;
        if (run->request.reason.code != CLR_WHY_NONE)
            return CLR_NEXT_WAY;
        run->lookups[i] = run->memos[i].lookup;
    }
    /* A function of the application, which a lookup may have called, may have written. */
    if (query->lookup_count > 0 && !(is_known && read_version(run, &after) && before == after)) {
        clr_reason_set(&run->request.reason, CLR_WHY_UNCOMMITTED);
        return CLR_NEXT_WAY;
    }
    run->scan.lookup_count = query->lookup_count;
    run->scan.lookups = run->query_run->lookups = run->lookups;
    return CLR_ANSWERED;
}
