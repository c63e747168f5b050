#include "sqlite/columns/column_source.h"

#include "base/memory.h"
#include "query/syntax/syntax.h"
#include "sqlite/columns/row_loader.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"

#include <stdlib.h>
#include <string.h>

const char *clr_derived_rowid(const struct clr_table_info *table)
{
    int i;

    for (i = 0; i < CLR_ROWID_NAMES && !table->without_rowid; i++) {
        if (clr_table_info_find(table, clr_rowid_names[i]) == table->column_count)
            return clr_rowid_names[i];
    }
    return NULL;
}

/* ---- By what code they are evaluated. */

/* Adds to the hash what the time zone is to SQLite: the variable that names it, and how far local
   times are ahead each fortnight from 2000 to 2040. A zone may be another one where the variable is
   the same. Returns SQLite's code. */
static int add_zone(sqlite3 *db, uint64_t *hash)
{
    static const char offsets[] =
        "WITH RECURSIVE fortnights(t) AS (SELECT 946684800 UNION ALL SELECT t + 1209600"
        " FROM fortnights WHERE t < 2208988800)"
        " SELECT group_concat(strftime('%s', t, 'unixepoch', 'localtime') - t) FROM fortnights";
    const char *name = getenv("TZ");
    struct clr_value value = {.kind = CLR_KIND_TEXT, .bytes = name == NULL ? "" : name};
    sqlite3_stmt *statement;
    int rc = clr_statement_make(db, offsets, 0, &statement);

    value.as.size = strlen(value.bytes);
    *hash = clr_bytes_hash(&value, *hash);
    if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        value.bytes = (const char *)sqlite3_column_text(statement, 0);
        value.as.size = value.bytes == NULL ? 0 : strlen(value.bytes);
        *hash = clr_bytes_hash(&value, *hash);
    }
    return clr_statement_end(statement, rc);
}

/* Whether an expression may have a modifier that converts from or to local times. */
static bool has_zone(const char *expression)
{
    return sqlite3_strlike("%localtime%", expression, 0) == 0 ||
           sqlite3_strlike("%utc%", expression, 0) == 0;
}

/* Stores the hash of what SQLite makes of an expression, and of the limits that make functions
   fail. 0: it can't be had. */
static int read_program(const struct clr_column_request *request, const char *expression,
                        uint64_t *program)
{
    sqlite3 *db = request->connection->db;
    const int limits[] = {sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1),
                          sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1)};
    const struct clr_value value = {
        .kind = CLR_KIND_BLOB, .as.size = sizeof limits, .bytes = (const char *)limits};
    char *sql = sqlite3_mprintf("SELECT (%s) FROM \"%w\".\"%w\" NOT INDEXED", expression,
                                request->table->schema, request->table->name);
    uint64_t hash;
    int rc;

    *program = 0;
    if (sql == NULL)
        return SQLITE_NOMEM;
    hash = clr_bytecode_hash(db, sql);
    rc = sqlite3_errcode(db);
    sqlite3_free(sql);
    if (hash != 0 && has_zone(expression)) {
        rc = add_zone(db, &hash);
        hash = rc == SQLITE_OK ? hash : 0;
    }
    if (hash != 0)
        *program = clr_bytes_hash(&value, hash);
    return hash == 0 && (rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT) ? rc : SQLITE_OK;
}

int clr_derived_check(struct clr_column_request *request)
{
    const struct clr_query *query = request->query;
    int rc = SQLITE_OK, i;

    if (!query->has_derived)
        return SQLITE_OK;
    for (i = 0; i < query->column_count && rc == SQLITE_OK; i++) {
        uint64_t *program = &request->deriving->programs[i];

        if (query->columns[i].derived == NULL)
            continue;
        rc = read_program(request, query->columns[i].derived, program);
        if (rc == SQLITE_OK && *program == 0)
            clr_reason_set(&request->reason, CLR_WHY_REPLACED);
    }
    if (rc == SQLITE_OK && !clr_functions_still_are(request->connection->db, request->functions))
        clr_reason_set(&request->reason, CLR_WHY_REPLACED);
    return rc;
}

/* ---- When they are made. */

void clr_derived_served(struct clr_column_request *request)
{
    if (request->query->has_derived)
        request->deriving->has_served = request->deriving->is_made;
}

/* Learns how long the columns served that are gone. */
static void end_making(struct clr_deriving *deriving)
{
    if (deriving->has_served)
        deriving->waiting = (struct clr_backoff){.pause = 0};
    else
        clr_backoff_failed(&deriving->waiting, 3);
    deriving->is_made = deriving->has_served = deriving->was_asked = false;
}

bool clr_derived_are_due(struct clr_column_request *request)
{
    struct clr_deriving *deriving = request->deriving;
    bool are_due;
    int more;

    if (deriving->is_made)
        end_making(deriving);
    are_due = !clr_backoff_skips(&deriving->waiting) && deriving->was_asked;
    deriving->was_asked = true;
    if (are_due)
        return true;
    more = deriving->waiting.left;
    clr_reason_set_numbers(&request->reason, more < 2 ? CLR_WHY_ASKED_ONCE : CLR_WHY_ASKED_SELDOM,
                           more, 0);
    request->reason.cause = CLR_WHY_ROW_EXPRESSION;
    if (deriving->refusal != CLR_WHY_NONE)
        clr_reason_set(&request->reason, deriving->refusal);
    return false;
}

/* ---- Making them. */

/* What is made: of the query's columns those of these numbers. */
struct making {
    int numbers[CLR_MOST_COLUMNS];
    struct clr_field fields[CLR_MOST_COLUMNS];
    struct clr_column *columns[CLR_MOST_COLUMNS];
    struct clr_row_load load;
};

static void find_lacking(const struct clr_column_request *request, struct making *making)
{
    int i;

    memset(making, 0, sizeof *making);
    for (i = 0; i < request->query->column_count; i++) {
        if (request->query->columns[i].derived == NULL ||
            clr_column_request_find(request, i) != NULL)
            continue;
        making->fields[making->load.count] = clr_column_request_field(request, i);
        making->numbers[making->load.count++] = i;
    }
    making->load.fields = making->fields;
    making->load.columns = making->columns;
    making->load.many_values = -1;
}

/* Returns the statement's text, or NULL. */
static char *write_select(const struct clr_column_request *request, const struct making *making)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    int i;

    sqlite3_str_appendall(text, "SELECT " CLR_ROW_LOADER "(?1");
    for (i = 0; i < making->load.count; i++)
        sqlite3_str_appendf(text, ", (%s)", making->fields[i].derived);
    sqlite3_str_appendf(text, ") FROM \"%w\".\"%w\" NOT INDEXED WHERE %s BETWEEN ?2 AND ?3",
                        request->table->schema, request->table->name,
                        clr_derived_rowid(request->table));
    return sqlite3_str_finish(text);
}

/* Whether the statement goes over rows in the order of their rowids (not with PRAGMA
   reverse_unordered_selects). */
static int check_walk(const struct clr_column_request *request, const char *sql)
{
    struct clr_bytecode program;
    struct clr_walk walk;
    int rc = clr_bytecode_read(request->connection->db, &program, "%s", sql);

    if (rc != SQLITE_OK)
        return rc;
    walk = clr_bytecode_walk(&program);
    clr_bytecode_free(&program);
    return walk.kind == CLR_WALK_TREE && walk.root == request->table->root && !walk.descends &&
                   !walk.has_lists
               ? SQLITE_OK
               : SQLITE_ERROR;
}

/* Stores the ranges of rowids that the layout's rows are in, one after the other; to be freed with
   clr_memory_free(). Returns how many, or 0 without memory. */
static size_t find_ranges(const struct clr_layout *layout, struct clr_rowid_range **ranges)
{
    const bool is_in_order = clr_layout_is_in_order(layout);
    struct clr_rowid_range *range;
    size_t count = 0, i;

    *ranges = clr_memory_alloc((is_in_order ? 1 : layout->leaf_count) * sizeof **ranges);
    if (*ranges == NULL)
        return 0;
    range = *ranges;
    for (i = 0; i < layout->leaf_count; i++) {
        const struct clr_leaf *leaf = &layout->leaves[i];

        if (leaf->rows == 0)
            continue;
        if (count == 0 || !is_in_order)
            range[count++] = (struct clr_rowid_range){.first = leaf->first};
        range[count - 1].last = leaf->last;
        range[count - 1].rows += leaf->rows;
    }
    return count;
}

/* Has SQLite fill columns of the layout's rows. Returns SQLite's code, which is SQLITE_OK with all
   columns, and else without any. */
static int fill(const struct clr_column_request *request, struct making *making)
{
    const struct clr_layout *layout = &request->image->layout;
    struct clr_row_load *load = &making->load;
    struct clr_rowid_range *ranges = NULL;
    size_t range_count;
    char *sql = write_select(request, making);
    int rc = sql == NULL ? SQLITE_NOMEM : check_walk(request, sql);

    load->most = layout->rows;
    load->left = clr_column_memory() -
                 (int64_t)layout->rows * CLR_ROW_BYTES * (request->query->column_count + 1);
    if (rc == SQLITE_OK) {
        range_count = find_ranges(layout, &ranges);
        rc = range_count == 0
                 ? SQLITE_NOMEM
                 : clr_row_load_run(request->connection, sql, ranges, range_count, load);
        clr_memory_free(ranges);
    }
    sqlite3_free(sql);
    return rc;
}

/* Puts the columns into the image. */
static int keep(struct clr_column_request *request, struct making *making)
{
    struct clr_image *image = request->image;
    int rc = SQLITE_OK, i;

    clr_cache_lock();
    for (i = 0; i < making->load.count; i++) {
        if (clr_image_add(image, making->fields[i].derived, &making->fields[i],
                          making->columns[i]) == NULL)
            rc = SQLITE_NOMEM;
    }
    clr_image_measure(image);
    clr_cache_unlock();
    request->deriving->is_made = true;
    request->deriving->has_served = false;
    request->deriving->refusal = CLR_WHY_NONE;
    request->connection->stats.rows_loaded += (int64_t)making->load.rows;
    request->reading = (struct clr_reading){.kind = CLR_READ_FILLED,
                                            .amount = (int64_t)making->load.rows,
                                            .cause = CLR_WHY_ROW_EXPRESSION};
    return rc;
}

/* Says why they could not be made: not again soon. */
static void refuse(struct clr_column_request *request, const struct making *making)
{
    const int many = making->load.many_values;

    if (many >= 0 && making->fields[many].with_codes)
        clr_column_request_refuse_values(request, making->numbers[many]);
    else
        clr_reason_set(&request->reason, many >= 0              ? CLR_WHY_VALUE
                                         : making->load.is_full ? CLR_WHY_ROWS_TOO_LARGE
                                                                : CLR_WHY_ROWS_FAILED);
    /* A reason that is told again has no name. */
    request->deriving->refusal =
        request->reason.code == CLR_WHY_MANY_VALUES ? CLR_WHY_NONE : request->reason.code;
    clr_backoff_failed(&request->deriving->waiting, 8);
}

int clr_derived_make(struct clr_column_request *request)
{
    const struct clr_layout *layout = &request->image->layout;
    const int64_t row_bytes = CLR_ROW_BYTES * (request->query->column_count + 1);
    struct making making;
    int rc;

    find_lacking(request, &making);
    if (making.load.count == 0 || !clr_column_request_check_rows(request, layout->rows))
        return SQLITE_OK;
    making.load.is_full = (int64_t)layout->rows > clr_column_memory() / row_bytes;
    rc = making.load.is_full ? SQLITE_TOOBIG : fill(request, &making);
    if (rc == SQLITE_OK)
        return keep(request, &making);
    if (rc == SQLITE_INTERRUPT || rc == SQLITE_NOMEM)
        return rc;
    refuse(request, &making);
    return SQLITE_OK;
}
