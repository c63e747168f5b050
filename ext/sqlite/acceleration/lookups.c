#include "sqlite/acceleration/ways.h"

#include <string.h>

static struct clr_lookup_input input_of(const struct clr_view_run *run,
                                        const struct clr_column *column)
{
    return (struct clr_lookup_input){.dictionary = column->dictionary,
                                     .encoding = run->plan->encoding,
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
        /* SQLite is as quick over the rows. */
        if (column->dictionary->count > column->rows / CLR_DICTIONARY_PART)
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
