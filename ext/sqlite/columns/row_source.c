#include "sqlite/columns/column_source.h"
#include "sqlite/columns/row_fill.h"
#include "sqlite/columns/row_version.h"
#include "sqlite/schema/column_code.h"

/*
 * When columns are filled. That takes about as long as the SELECT itself and serves only as long as
 * the database is the same: so the SELECT is run at first, and the columns are filled when it, or
 * another query of these columns, is asked again. Where columns that were filled went before they
 * served any other query, more queries are waited for the next time, twice as many each time, up to
 * CLR_BACKOFF_MOST.
 */

/* Why the columns could not be filled for this version. That is no reason for a query that does not
   lack all that was lacking then. */
static enum clr_reason_code find_refusal(const struct clr_column_request *request, uint64_t lacking)
{
    const struct clr_attempts *attempts = &request->image->table->attempts;

    return attempts->settings != request->connection->settings_changes ||
                   (attempts->refused & ~lacking) != 0
               ? CLR_WHY_NONE
               : attempts->refusal;
}

/* Whether all columns can still be filled by SQLite: functions may have been replaced. */
static bool are_loadable(const struct clr_column_request *request)
{
    const struct clr_table_info *table = request->table;
    struct clr_column_code code;
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_column_info *info = clr_column_request_info(request, i);
        if (!info->loadable)
            return false;
        if (info->has_calls &&
            (clr_column_code_read(request->connection->db, table->schema, table->name, info->name,
                                  NULL, &code) != SQLITE_OK ||
             !code.is_settled))
            return false;
    }
    return true;
}

/* Learns how long the columns served that are gone. */
static void end_attempts(struct clr_cached_table *table)
{
    struct clr_backoff filling = table->attempts.filling;

    if (table->attempts.served)
        filling = (struct clr_backoff){.pause = 0};
    else if (table->attempts.filled != 0)
        clr_backoff_failed(&filling, 3);
    filling.left = filling.pause;
    table->attempts = (struct clr_attempts){.filling = filling};
}

/* Makes a stale image, whose table is busy, an empty one of that version. */
static int make_empty(struct clr_column_request *request, const struct clr_token *token)
{
    if (!clr_cache_begin_change(&request->image, request->watch, false)) {
        clr_cache_end_load(request->image);
        return SQLITE_NOMEM;
    }
    end_attempts(request->image->table);
    clr_image_empty(request->image, request->table->root, token);
    clr_cache_end_change(request->image);
    return SQLITE_OK;
}

static int begin(struct clr_column_request *request)
{
    struct clr_token token;
    enum clr_reason_code why;
    enum clr_entry entry;
    int rc = clr_row_version_begin(request->database, &token, &why);

    if (why != CLR_WHY_NONE)
        clr_column_request_refuse(request, why);
    if (rc != SQLITE_OK || why != CLR_WHY_NONE || !clr_column_request_is_current(request))
        return rc;
    if (!are_loadable(request)) {
        clr_reason_set(&request->reason, CLR_WHY_OTHER_ROWS);
        return SQLITE_OK;
    }
    entry = clr_column_request_enter(request, NULL, &token);
    if (entry != CLR_ENTRY_FRESH && entry != CLR_ENTRY_STALE)
        return clr_column_request_missed(request, entry);
    if (entry == CLR_ENTRY_STALE)
        rc = make_empty(request, &token);
    if (rc != SQLITE_OK)
        return rc;
    clr_column_request_pin(request);
    if (request->has_columns) {
        request->image->table->attempts.served = true;
        request->reading =
            (struct clr_reading){.kind = CLR_READ_RESIDENT_ROWS, .cause = request->no_pages};
    }
    return SQLITE_OK;
}

/* Returns the bits of the columns that the image lacks. */
static uint64_t find_lacking(const struct clr_column_request *request)
{
    uint64_t lacking = 0;
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field field = clr_column_field(request->query, request->table, true, i);
        if (clr_image_find(request->image, &field) == NULL)
            lacking |= clr_image_bit(&field);
    }
    return lacking;
}

/* Takes note of a query that lacks columns. Returns whether they are to be filled now. */
static bool are_due(struct clr_cached_table *table, uint64_t lacking)
{
    struct clr_attempts *attempts = &table->attempts;
    bool due;

    if ((attempts->filled & lacking) != 0) /* they had to make room for others */
        end_attempts(table);
    due = !clr_backoff_skips(&attempts->filling) && (lacking & ~attempts->asked) == 0;
    attempts->asked |= lacking;
    return due;
}

/* Says that the columns will be filled later. */
static void put_off(struct clr_column_request *request)
{
    const int more = request->image->table->attempts.filling.left;

    clr_reason_set_numbers(&request->reason, more < 2 ? CLR_WHY_ASKED_ONCE : CLR_WHY_ASKED_SELDOM,
                           more, 0);
    request->reason.cause = request->no_pages;
}

/* For a table that is busy. */
static int fill_columns(struct clr_column_request *request)
{
    struct clr_attempts *attempts = &request->image->table->attempts;
    const uint64_t lacking = find_lacking(request);
    const enum clr_reason_code refusal = find_refusal(request, lacking);
    int rc;

    if (refusal != CLR_WHY_NONE) {
        clr_reason_set(&request->reason, refusal);
        return SQLITE_OK;
    }
    if (!are_due(request->image->table, lacking)) {
        put_off(request);
        return SQLITE_OK;
    }
    if (clr_column_request_expects_many_values(request))
        return SQLITE_OK;
    rc = clr_row_fill(request);
    if (rc == SQLITE_INTERRUPT || rc == SQLITE_NOMEM)
        return rc;
    if (rc == SQLITE_OK && !request->is_too_large)
        return SQLITE_OK;
    attempts->refusal = request->is_too_large ? CLR_WHY_ROWS_TOO_LARGE : CLR_WHY_ROWS_FAILED;
    attempts->refused = lacking;
    attempts->settings = request->connection->settings_changes;
    clr_reason_set(&request->reason, attempts->refusal);
    return SQLITE_OK;
}

static int bring(struct clr_column_request *request)
{
    bool is_busy;
    int rc = clr_column_request_begin_load(request, &is_busy);

    if (!is_busy)
        return rc;
    rc = fill_columns(request);
    if (rc == SQLITE_OK && request->reason.code == CLR_WHY_NONE)
        clr_column_request_pin(request);
    clr_cache_end_change(request->image);
    return rc;
}

static void end(struct clr_column_request *request)
{
    clr_database_release(request->database);
    clr_column_request_leave(request);
}

const struct clr_column_source clr_row_source = {begin, bring, end};
