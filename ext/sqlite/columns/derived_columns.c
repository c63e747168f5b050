#include "sqlite/columns/column_source.h"

#include "base/memory.h"
#include "query/syntax/syntax.h"
#include "sqlite/columns/row_loader.h"
#include "sqlite/schema/row_order.h"
#include "sqlite/session/statement.h"
#include "storage/format/page_set.h"
#include "storage/refresh/refresh.h"

#include <stdlib.h>
#include <string.h>

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

/* Which functions of the application's an expression may call: zeros, if none. */
struct own_functions {
    uint64_t age;      /* of the connection: one that takes the place of another changes it */
    uint64_t variants; /* clr_functions_still_are(): another one may suit better */
};

/* Stores the hash of what SQLite makes of an expression, of the functions that it calls, and of the
   limits that make functions fail. 0: it can't be had. */
static int read_program(const struct clr_column_request *request, const char *expression,
                        const struct own_functions *own, uint64_t *program)
{
    sqlite3 *db = request->connection->db;
    const struct clr_function_limits *limits = &request->deriving->limits;
    const uint64_t numbers[] = {(uint64_t)limits->pattern, (uint64_t)limits->length, own->age,
                                own->variants};
    const struct clr_value value = {
        .kind = CLR_KIND_BLOB, .as.size = sizeof numbers, .bytes = (const char *)numbers};
    char *sql = sqlite3_mprintf("SELECT (%s) FROM \"%w\".\"%w\" NOT INDEXED", expression,
                                request->table->schema, request->table->name);
    uint64_t hash;
    int rc;

    *program = 0;
    if (sql == NULL)
        return SQLITE_NOMEM;
    hash = clr_bytecode_hash(db, sql, false);
    rc = sqlite3_errcode(db);
    sqlite3_free(sql);
    if (hash != 0 && clr_functions_name_zone(expression)) {
        rc = add_zone(db, &hash);
        hash = rc == SQLITE_OK ? hash : 0;
    }
    if (hash != 0)
        *program = clr_bytes_hash(&value, hash);
    return hash == 0 && (rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT) ? rc : SQLITE_OK;
}

/* Whether SQLite's LIKE of a pattern is the one that decoders know: with SQLITE_CASE_SENSITIVE_LIKE
   it is another one. */
static int check_pattern(const struct clr_column_request *request,
                         const struct clr_query_column *column)
{
    sqlite3 *db = request->connection->db;
    sqlite3_stmt *statement;
    int rc;

    if (column->pattern_size == 0 || request->deriving->has_no_patterns)
        return SQLITE_OK;
    rc = clr_statement_make(db, "SELECT 'a' LIKE 'A'", 0, &statement);
    request->deriving->has_no_patterns = rc != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW ||
                                         sqlite3_column_int(statement, 0) != 1 ||
                                         request->deriving->limits.pattern < column->pattern_size;
    return clr_statement_end(statement, rc);
}

/* Takes note of the connection's age, if columns call functions of the application's. Those of
   another age are nobody's any more. */
static void take_age(struct clr_column_request *request, uint64_t age)
{
    const struct clr_query *query = request->query;
    struct clr_deriving *deriving = request->deriving;
    const uint64_t before = deriving->age;
    int i;

    for (i = 0; i < query->column_count && !query->columns[i].calls_own; i++)
        ;
    if (i == query->column_count)
        return;
    deriving->age = age;
    if (before != 0 && before != age)
        clr_cache_drop_age(before);
    if (age == 0)
        clr_reason_set(&request->reason, CLR_WHY_REPLACED);
}

int clr_derived_check(struct clr_column_request *request)
{
    const struct clr_query *query = request->query;
    const struct own_functions none = {0, 0};
    struct clr_deriving *deriving = request->deriving;
    struct clr_function_limits limits;
    struct own_functions own;
    uint64_t age;
    int rc = SQLITE_OK, i;

    if (!query->has_derived)
        return SQLITE_OK;
    age = clr_age_read(request->connection, &deriving->has_age);
    limits = clr_function_limits_read(request->connection->db);
    /* Who asks by a statement that was prepared before, and is not expired, asks for no other
       functions. */
    if (age != 0 && deriving->checked_age == age && !deriving->has_zones &&
        memcmp(&limits, &deriving->limits, sizeof limits) == 0)
        return SQLITE_OK;
    deriving->checked_age = 0;
    deriving->limits = limits;
    if (!clr_functions_still_are(request->connection->db, request->functions, &own.variants))
        clr_reason_set(&request->reason, CLR_WHY_REPLACED);
    take_age(request, age);
    own.age = deriving->age;
    for (i = 0; i < query->column_count && rc == SQLITE_OK; i++) {
        uint64_t *program = &deriving->programs[i];

        if (query->columns[i].derived == NULL)
            continue;
        deriving->has_zones =
            deriving->has_zones || clr_functions_name_zone(query->columns[i].derived);
        rc = check_pattern(request, &query->columns[i]);
        if (rc == SQLITE_OK)
            rc = read_program(request, query->columns[i].derived,
                              query->columns[i].calls_own ? &own : &none, program);
        if (rc == SQLITE_OK && *program == 0)
            clr_reason_set(&request->reason, CLR_WHY_REPLACED);
    }
    if (rc == SQLITE_OK && request->reason.code == CLR_WHY_NONE)
        deriving->checked_age = age;
    return rc;
}

/* ---- When they are made. */

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

/* Returns a name of the table's rowid that is no column's, which a table with derived columns has.
 */
static const char *rowid_name(const struct clr_table_info *table)
{
    int i;

    for (i = 0; i < CLR_ROWID_NAMES && !table->without_rowid; i++) {
        if (clr_table_info_find(table, clr_rowid_names[i]) == table->column_count)
            return clr_rowid_names[i];
    }
    return NULL;
}

/* Returns the statement's text, or NULL. */
static char *write_select(const struct clr_column_request *request,
                          const struct clr_new_columns *making)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    int i;

    sqlite3_str_appendall(text, "SELECT " CLR_ROW_LOADER "(?1");
    for (i = 0; i < making->count; i++)
        sqlite3_str_appendf(text, ", (%s)", making->names[i]);
    sqlite3_str_appendf(text, ") FROM \"%w\".\"%w\" NOT INDEXED WHERE %s BETWEEN ?2 AND ?3",
                        request->table->schema, request->table->name, rowid_name(request->table));
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
    return walk.kind == CLR_WALK_TREE && walk.tree == request->table->tree && !walk.descends &&
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

/* Has SQLite fill columns of the layout's rows that are in ranges, at most so many. Returns
   SQLite's code, which is SQLITE_OK with all columns, and else without any. */
static int fill(const struct clr_column_request *request, struct clr_new_columns *making,
                const struct clr_rowid_range *ranges, size_t range_count, size_t most,
                struct clr_row_load *load)
{
    char *sql = write_select(request, making);
    int rc = sql == NULL ? SQLITE_NOMEM : check_walk(request, sql);

    load->fields = making->fields;
    load->columns = making->columns;
    load->count = making->count;
    load->most = most;
    load->left = clr_column_memory() - (int64_t)request->image->layout.rows * CLR_ROW_BYTES *
                                           (request->query->column_count + 1);
    if (rc == SQLITE_OK)
        rc = clr_row_load_run(request->connection, sql, ranges, range_count, load);
    sqlite3_free(sql);
    return rc;
}

/* The same, of all rows. */
static int fill_all(const struct clr_column_request *request, struct clr_new_columns *making,
                    struct clr_row_load *load)
{
    const struct clr_layout *layout = &request->image->layout;
    struct clr_rowid_range *ranges;
    const size_t count = find_ranges(layout, &ranges);
    const int rc =
        count == 0 ? SQLITE_NOMEM : fill(request, making, ranges, count, layout->rows, load);

    clr_memory_free(ranges);
    return rc;
}

/* Says why they could not be made: not again soon. */
static void refuse(struct clr_column_request *request, const struct clr_new_columns *making,
                   const struct clr_row_load *load)
{
    const int many = load->many_values;

    if (many >= 0 && making->fields[many].with_codes)
        clr_column_request_refuse_field(request, &making->fields[many]);
    else
        clr_reason_set(&request->reason, many >= 0       ? CLR_WHY_VALUE
                                         : load->is_full ? CLR_WHY_ROWS_TOO_LARGE
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
    struct clr_row_load load = {.many_values = -1};
    struct clr_new_columns making;
    int rc;

    clr_column_request_lacking(request, true, &making);
    if (making.count == 0 || !clr_column_request_check_rows(request, layout->rows))
        return SQLITE_OK;
    load.is_full = (int64_t)layout->rows > clr_column_memory() / row_bytes;
    rc = load.is_full ? SQLITE_TOOBIG : fill_all(request, &making, &load);
    if (rc == SQLITE_INTERRUPT || rc == SQLITE_NOMEM)
        return rc;
    if (rc != SQLITE_OK) {
        refuse(request, &making, &load);
        return SQLITE_OK;
    }
    request->deriving->is_made = true;
    request->deriving->has_served = false;
    request->deriving->refusal = CLR_WHY_NONE;
    request->connection->stats.rows_loaded += (int64_t)load.rows;
    request->reading = (struct clr_reading){
        .kind = CLR_READ_FILLED, .amount = (int64_t)load.rows, .cause = CLR_WHY_ROW_EXPRESSION};
    return clr_column_request_keep(request, &making);
}

/* ---- Evaluating rows again. */

/* The image's columns that a request lacks for some rows. */
struct unvalued {
    struct clr_image_column *of[CLR_MOST_COLUMNS]; /* pinned */
    struct clr_new_columns fresh;                  /* of those rows */
    size_t *places;                                /* of their leaves, ascending */
    size_t place_count;
};

/* Finds the columns, and pins them. */
static void find_unvalued(const struct clr_column_request *request, struct unvalued *unvalued)
{
    struct clr_new_columns *fresh = &unvalued->fresh;
    int i;

    clr_cache_lock();
    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field field = clr_column_request_field(request, i);
        struct clr_image_column *column = clr_image_find_unvalued(request->image, &field);

        if (column == NULL)
            continue;
        column->pins++;
        unvalued->of[fresh->count] = column;
        fresh->names[fresh->count] = column->name;
        fresh->fields[fresh->count++] = field;
    }
    clr_cache_unlock();
}

static int compare_places(const void *a, const void *b)
{
    const size_t first = *(const size_t *)a, second = *(const size_t *)b;

    return (first > second) - (first < second);
}

/* Finds the leaves whose rows some of the columns lack. Returns SQLITE_OK, SQLITE_NOMEM, or
   SQLITE_TOOBIG if they are so many that a new column is as quick. */
static int find_places(const struct clr_layout *layout, struct unvalued *unvalued)
{
    const size_t most = clr_refresh_most_leaves(layout->leaf_count);
    size_t count = 0, end, i;
    int k;

    unvalued->places =
        clr_memory_alloc((size_t)unvalued->fresh.count * most * sizeof *unvalued->places);
    if (unvalued->places == NULL)
        return SQLITE_NOMEM;
    for (k = 0; k < unvalued->fresh.count; k++) {
        const struct clr_page_set *leaves = unvalued->of[k]->unvalued;
        uint32_t page = 0;

        end = count + most;
        while ((page = clr_page_set_next(leaves, page)) != 0) {
            const size_t place = clr_layout_find(layout, page);

            if (place == 0 || layout->leaves[place - 1].rows == 0)
                continue;
            if (count == end)
                return SQLITE_TOOBIG;
            unvalued->places[count++] = place - 1;
        }
    }
    if (count > 1)
        qsort(unvalued->places, count, sizeof *unvalued->places, compare_places);
    for (i = 0; i < count; i++) {
        if (i == 0 || unvalued->places[i] != unvalued->places[i - 1])
            unvalued->places[unvalued->place_count++] = unvalued->places[i];
    }
    return SQLITE_OK;
}

/* Has SQLite evaluate these rows. Returns its code, as of fill(). */
static int fill_places(struct clr_column_request *request, struct unvalued *unvalued,
                       struct clr_row_load *load)
{
    const struct clr_layout *layout = &request->image->layout;
    struct clr_rowid_range *ranges = clr_memory_alloc((unvalued->place_count + 1) * sizeof *ranges);
    size_t rows = 0, i;
    int rc = SQLITE_NOMEM;

    for (i = 0; i < unvalued->place_count && ranges != NULL; i++) {
        const struct clr_leaf *leaf = &layout->leaves[unvalued->places[i]];

        ranges[i] = (struct clr_rowid_range){leaf->first, leaf->last, leaf->rows};
        rows += leaf->rows;
    }
    if (ranges != NULL)
        rc = fill(request, &unvalued->fresh, ranges, unvalued->place_count, rows, load);
    clr_memory_free(ranges);
    return rc;
}

/* Puts what was evaluated into the columns. Nobody else refers to those of an image that is being
   changed; others are replaced. */
static int put_values(struct clr_column_request *request, struct unvalued *unvalued)
{
    struct clr_image *image = request->image;
    struct clr_new_columns *fresh = &unvalued->fresh;
    struct clr_column *columns[CLR_MOST_COLUMNS], *before[CLR_MOST_COLUMNS];
    bool changed[CLR_MOST_COLUMNS];
    struct clr_refresh_report report;
    enum clr_load_outcome outcome;
    int i;

    for (i = 0; i < fresh->count; i++) {
        columns[i] = unvalued->of[i]->column;
        before[i] = image->is_changing ? NULL : clr_column_retain(columns[i]);
    }
    outcome = clr_refresh_values(&image->layout, unvalued->places, unvalued->place_count,
                                 fresh->columns, fresh->count, columns, changed, &report);
    if (!image->is_changing)
        clr_cache_lock();
    for (i = 0; i < fresh->count && outcome == CLR_LOAD_DONE; i++) {
        if (changed[i])
            clr_image_replace(unvalued->of[i], columns[i],
                              image->is_changing ? &report.fresh : NULL);
        clr_page_set_free(unvalued->of[i]->unvalued);
        unvalued->of[i]->unvalued = NULL;
    }
    if (!image->is_changing)
        clr_cache_unlock();
    for (i = 0; i < fresh->count; i++) {
        clr_column_release(before[i]);
        clr_column_release(fresh->columns[i]);
    }
    return outcome == CLR_LOAD_DONE ? SQLITE_OK : SQLITE_TOOBIG;
}

/* Unpins the columns. Those that could not be had are dropped. */
static void end_unvalued(struct clr_image *image, struct unvalued *unvalued, bool drops)
{
    struct clr_image_column **link;
    int i;

    clr_cache_lock();
    for (i = 0; i < unvalued->fresh.count; i++) {
        unvalued->of[i]->pins--;
        for (link = &image->columns; *link != unvalued->of[i]; link = &(*link)->next)
            ;
        if (drops)
            clr_image_remove(link);
    }
    clr_image_measure(image);
    clr_cache_unlock();
    clr_memory_free(unvalued->places);
}

int clr_derived_renew(struct clr_column_request *request)
{
    struct clr_row_load load = {.many_values = -1, .stays_wide = true};
    struct unvalued unvalued = {.place_count = 0};
    int rc;

    if (!request->query->has_derived)
        return SQLITE_OK;
    find_unvalued(request, &unvalued);
    if (unvalued.fresh.count == 0)
        return SQLITE_OK;
    rc = find_places(&request->image->layout, &unvalued);
    if (rc == SQLITE_OK)
        rc = fill_places(request, &unvalued, &load);
    if (rc == SQLITE_OK)
        rc = put_values(request, &unvalued);
    end_unvalued(request->image, &unvalued, rc != SQLITE_OK);
    if (rc == SQLITE_OK) {
        request->connection->stats.rows_loaded += (int64_t)load.rows;
        if (request->reading.kind == CLR_READ_NOTHING)
            request->reading = (struct clr_reading){.kind = CLR_READ_FILLED,
                                                    .amount = (int64_t)load.rows,
                                                    .cause = CLR_WHY_ROW_EXPRESSION};
    }
    return rc == SQLITE_INTERRUPT || rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}
