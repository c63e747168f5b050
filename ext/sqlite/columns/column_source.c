#include "sqlite/columns/column_source.h"

#include "base/memory.h"
#include "query/syntax/syntax.h"
#include "sqlite/cache/cache.h"
#include "sqlite/cache/cache_memory.h"
#include "sqlite/columns/row_loader.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/session/statement.h"
#include "storage/format/page_set.h"
#include "storage/refresh/refresh.h"

#include <stdlib.h>
#include <string.h>

/* ---- Requests. */

void clr_column_request_end(struct clr_column_request *request)
{
    const bool has_image = request->image != NULL;
    int i;

    if (!request->is_begun)
        return;
    clr_snapshot_end(request->database, &request->snapshot);
    if (request->has_columns) {
        clr_cache_lock();
        for (i = 0; i < request->query->column_count; i++)
            request->found[i]->pins--;
        clr_cache_unlock();
    }
    clr_cache_leave(request->image);
    request->image = NULL;
    request->is_begun = request->has_columns = false;
    /* What was loaded in vain may go. */
    if (has_image && !request->is_filled && !request->is_scanned)
        clr_column_memory_trim(clr_column_memory(), 0);
}

/* Takes note of why this version can't be read: for lack of pages, or not at all. */
static void refuse_version(struct clr_column_request *request, enum clr_reason_code why)
{
    if (clr_reason_is_no_pages(why))
        request->no_pages = why;
    else
        clr_reason_set(&request->reason, why);
}

/* Within the version's transaction: returns whether the plan's names mean what they meant. */
static bool is_current(struct clr_column_request *request)
{
    const bool current = clr_table_names_hold(request->names, &request->reason);

    request->is_outdated = !current && request->reason.code == CLR_WHY_NONE;
    return current;
}

bool clr_column_request_check_rows(struct clr_column_request *request, size_t rows)
{
    const int64_t threshold = request->connection->settings.view_threshold;

    /* Without rows SQLite still evaluates what is constant, and may find an error in it. */
    if (rows == 0)
        clr_reason_set(&request->reason, CLR_WHY_EMPTY_TABLE);
    else if ((int64_t)rows < threshold)
        clr_reason_set_numbers(&request->reason, CLR_WHY_SMALL_TABLE, (int64_t)rows, threshold);
    return request->reason.code == CLR_WHY_NONE;
}

const char *clr_column_name(const struct clr_query *query, const struct clr_table_info *table,
                            int i)
{
    return query->columns[i].derived != NULL ? query->columns[i].derived
                                             : table->columns[query->columns[i].number].name;
}

struct clr_field clr_column_field(const struct clr_query *query, const struct clr_table_info *table,
                                  const struct clr_deriving *deriving, bool is_filled, int i)
{
    const int number = query->columns[i].number, like = query->columns[i].like;
    struct clr_field field;

    if (query->columns[i].derived != NULL) {
        field = (struct clr_field){.with_codes = query->columns[i].with_codes,
                                   .derived = query->columns[i].derived,
                                   .program = deriving->programs[i]};
        if (query->columns[i].pattern_size > 0 && !deriving->has_no_patterns) {
            field.index = table->columns[like].field.index;
            field.missing = table->columns[like].field.missing;
            field.pattern_at = query->columns[i].pattern_at;
            field.pattern_size = query->columns[i].pattern_size;
        }
        return field;
    }
    field = table->columns[number].field;
    if (is_filled)
        field = (struct clr_field){.index = number == table->column_count ? (int)CLR_FIELD_ROWID
                                                                          : number,
                                   .never_null = field.never_null};
    field.with_bytes = query->columns[i].with_bytes;
    field.with_codes = query->columns[i].with_codes;
    field.unit = query->columns[i].unit;
    field.times = query->columns[i].times;
    return field;
}

static struct clr_cache_place place_of(const struct clr_column_request *request,
                                       struct clr_known_file *file)
{
    sqlite3 *db = request->connection->db;

    return (struct clr_cache_place){
        .connection = request->connection,
        .file = file,
        .longest = file == NULL ? 0 : (uint32_t)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1),
        .schema = request->database->schema,
        .table = request->table->name,
        .is_filled = request->is_filled};
}

/* To be called before a snapshot is begun, which enter() follows, or
   clr_cache_turn_back(): see clr_cache_arrive(). */
static void arrive(struct clr_column_request *request)
{
    struct clr_known_file *file = clr_database_known(request->database);
    struct clr_cache_place place;

    if (file == NULL)
        return;
    place = place_of(request, file);
    clr_cache_arrive(&place, &request->arrival);
}

static enum clr_entry enter(struct clr_column_request *request)
{
    const struct clr_cache_place place =
        place_of(request, request->is_filled ? NULL : request->snapshot.known);
    enum clr_entry entry;

    clr_retention_begin();
    entry = clr_cache_enter(&place, request->table->root, &request->snapshot.token, request->watch,
                            &request->arrival, &request->image);
    if (entry != CLR_ENTRY_FRESH && entry != CLR_ENTRY_STALE)
        request->image = NULL;
    request->is_stale = entry == CLR_ENTRY_STALE;
    return entry;
}

/* Returns the code of an entry that did not lead to the image; the reason may say why. */
static int missed(struct clr_column_request *request, enum clr_entry entry)
{
    switch (entry) {
    case CLR_ENTRY_STOPPED:
        return SQLITE_INTERRUPT;
    case CLR_ENTRY_NO_MEMORY:
        return SQLITE_NOMEM;
    default:
        clr_reason_set(&request->reason, CLR_WHY_NESTED);
        return SQLITE_OK;
    }
}

/* Pins the columns, if the image has all of them: has_columns says so. */
static void pin(struct clr_column_request *request)
{
    const int count = request->query->column_count;
    bool has_all;
    int i;

    clr_cache_lock();
    has_all = request->image->is_known;
    for (i = 0; i < count && has_all; i++) {
        request->found[i] = clr_column_request_find(request, i);
        has_all = request->found[i] != NULL;
    }
    for (i = 0; i < count && has_all; i++)
        request->found[i]->pins++;
    clr_cache_unlock();
    request->has_columns = has_all;
}

/* The same, of columns that were here already, which are to serve then. */
static void pin_resident(struct clr_column_request *request)
{
    pin(request);
    if (!request->has_columns)
        return;
    if (request->is_filled) {
        request->image->table->attempts.served = true;
        request->reading =
            (struct clr_reading){.kind = CLR_READ_RESIDENT_ROWS, .cause = request->no_pages};
    } else if (request->reading.kind == CLR_READ_NOTHING) {
        request->reading.kind = CLR_READ_RESIDENT;
    }
    if (request->query->has_derived)
        request->deriving->has_served = request->deriving->is_made;
}

struct clr_image_column *clr_column_request_find(const struct clr_column_request *request, int i)
{
    const struct clr_field field = clr_column_request_field(request, i);

    return clr_image_find(request->image, &field);
}

bool clr_column_request_expects_many_values(struct clr_column_request *request)
{
    const struct clr_image *image = request->image;
    bool is_expected;
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field field = clr_column_request_field(request, i);

        if (field.derived != NULL || (!field.with_codes && field.times == 0) ||
            clr_column_request_find(request, i) != NULL)
            continue;
        clr_cache_lock();
        is_expected = clr_many_values_expected(image->table->many_values, &field, &image->token);
        clr_cache_unlock();
        if (!is_expected)
            continue;
        clr_column_request_refuse_values(request, i);
        return true;
    }
    return false;
}

void clr_column_request_refuse_values(struct clr_column_request *request, int i)
{
    const char *name = clr_column_name(request->query, request->table, i);

    clr_reason_set_name(&request->reason, CLR_WHY_MANY_VALUES, name, strlen(name));
    request->refused_column = i;
}

/* Gives as the reason that the scan's columns of a field have too many values. */
static void refuse_field(struct clr_column_request *request, const struct clr_field *field)
{
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field own = clr_column_request_field(request, i);

        if (clr_field_is_like(&own, field))
            clr_column_request_refuse_values(request, i);
    }
}

void clr_column_request_has_many_values(struct clr_column_request *request,
                                        const struct clr_field *field)
{
    struct clr_image *image = request->image;

    clr_cache_lock();
    clr_many_values_found(&image->table->many_values, field, &image->token);
    clr_cache_unlock();
    refuse_field(request, field);
}

int clr_column_request_keep(struct clr_column_request *request, const struct clr_new_columns *added)
{
    struct clr_image *image = request->image;
    int i, rc = SQLITE_OK;

    clr_cache_lock();
    for (i = 0; i < added->count; i++) {
        clr_many_values_forget(&image->table->many_values, &added->fields[i]);
        if (clr_image_add(image, added->names[i], &added->fields[i], added->columns[i]) == NULL)
            rc = SQLITE_NOMEM;
    }
    clr_image_measure(image);
    clr_cache_unlock();
    return rc;
}

/* Finds the columns that the image lacks: those that SQLite derives, or those of pages. */
static void find_lacking(const struct clr_column_request *request, bool are_derived,
                         struct clr_new_columns *lacking)
{
    int i;

    lacking->count = 0;
    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field field = clr_column_request_field(request, i);

        if (clr_field_is_evaluated(&field) != are_derived ||
            clr_column_request_find(request, i) != NULL)
            continue;
        lacking->names[lacking->count] = clr_column_name(request->query, request->table, i);
        lacking->fields[lacking->count++] = field;
    }
}

const char *clr_derived_rowid(const struct clr_table_info *table)
{
    int i;

    for (i = 0; i < CLR_ROWID_NAMES && !table->without_rowid; i++) {
        if (clr_table_info_find(table, clr_rowid_names[i]) == table->column_count)
            return clr_rowid_names[i];
    }
    return NULL;
}

/* ---- Derived columns: by what code they are evaluated. */

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
    request->deriving->has_no_patterns =
        rc != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW ||
        sqlite3_column_int(statement, 0) != 1 ||
        sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1) < column->pattern_size;
    return clr_statement_end(statement, rc);
}

/* Within the version's transaction: finds out by what code SQLite evaluates the query's derived
   columns now. The reason says if functions are no longer SQLite's own. Returns SQLITE_OK,
   SQLITE_INTERRUPT or SQLITE_NOMEM. */
static int check_derived(struct clr_column_request *request)
{
    const struct clr_query *query = request->query;
    int rc = SQLITE_OK, i;

    if (!query->has_derived)
        return SQLITE_OK;
    for (i = 0; i < query->column_count && rc == SQLITE_OK; i++) {
        uint64_t *program = &request->deriving->programs[i];

        if (query->columns[i].derived == NULL)
            continue;
        rc = check_pattern(request, &query->columns[i]);
        if (rc == SQLITE_OK)
            rc = read_program(request, query->columns[i].derived, program);
        if (rc == SQLITE_OK && *program == 0)
            clr_reason_set(&request->reason, CLR_WHY_REPLACED);
    }
    if (rc == SQLITE_OK && !clr_functions_still_are(request->connection->db, request->functions))
        clr_reason_set(&request->reason, CLR_WHY_REPLACED);
    return rc;
}

/* ---- Derived columns: when they are made. */

/* Learns how long the columns served that are gone. */
static void end_making(struct clr_deriving *deriving)
{
    if (deriving->has_served)
        deriving->waiting = (struct clr_backoff){.pause = 0};
    else
        clr_backoff_failed(&deriving->waiting, 3);
    deriving->is_made = deriving->has_served = deriving->was_asked = false;
}

/* Takes note of a query for which some are lacking. Returns whether these are to be made now; if
   not the reason says so. */
static bool are_derived_due(struct clr_column_request *request)
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

/* ---- Derived columns: making them. */

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
        refuse_field(request, &making->fields[many]);
    else
        clr_reason_set(&request->reason, many >= 0       ? CLR_WHY_VALUE
                                         : load->is_full ? CLR_WHY_ROWS_TOO_LARGE
                                                         : CLR_WHY_ROWS_FAILED);
    /* A reason that is told again has no name. */
    request->deriving->refusal =
        request->reason.code == CLR_WHY_MANY_VALUES ? CLR_WHY_NONE : request->reason.code;
    clr_backoff_failed(&request->deriving->waiting, 8);
}

/* Makes those that are lacking, for who has made the table busy: the image has its layout. Returns
   as clr_columns_bring() does. */
static int make_derived(struct clr_column_request *request)
{
    const struct clr_layout *layout = &request->image->layout;
    const int64_t row_bytes = CLR_ROW_BYTES * (request->query->column_count + 1);
    struct clr_row_load load = {.many_values = -1};
    struct clr_new_columns making;
    int rc;

    find_lacking(request, true, &making);
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

/* ---- Derived columns: evaluating rows again. */

/* More leaves than these, and than a part of all, are as a new column. */
enum { MOST_LEAVES = 64, MOST_PART = 8 };

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
   SQLITE_TOOBIG if they are too many. */
static int find_places(const struct clr_layout *layout, struct unvalued *unvalued)
{
    const size_t part = layout->leaf_count / MOST_PART;
    const size_t most = part < MOST_LEAVES ? MOST_LEAVES : part;
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

/*
 * Evaluates the rows again that the image's columns lack, those of the query, for who has made the
 * table busy: after that these columns have all rows, or they are gone. Returns as
 * clr_columns_bring() does.
 */
static int evaluate_again(struct clr_column_request *request)
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

/* ---- What has changed in pages. */

/* The image's columns side by side. */
struct side {
    struct clr_image_column **of;
    struct clr_field *fields;
    struct clr_column **columns;
    bool *changed;
    int count;
};

/* Adds those that SQLite evaluates, or the others. */
static void side_add(struct side *side, const struct clr_image *image, bool are_evaluated)
{
    struct clr_image_column *column;

    for (column = image->columns; column != NULL; column = column->next) {
        if (clr_field_is_evaluated(&column->field) != are_evaluated)
            continue;
        side->of[side->count] = column;
        side->fields[side->count] = column->field;
        side->columns[side->count++] = column->column;
    }
}

static bool side_init(struct side *side, const struct clr_image *image)
{
    struct clr_image_column *column;
    size_t count = 1;

    for (column = image->columns; column != NULL; column = column->next)
        count++;
    *side = (struct side){.of = clr_memory_alloc(count * sizeof(struct clr_image_column *)),
                          .fields = clr_memory_alloc(count * sizeof *side->fields),
                          .columns = clr_memory_alloc(count * sizeof(struct clr_column *)),
                          .changed = clr_memory_alloc(count * sizeof *side->changed)};
    if (side->of == NULL || side->fields == NULL || side->columns == NULL || side->changed == NULL)
        return false;
    side_add(side, image, false);
    side_add(side, image, true);
    return true;
}

static void side_free(struct side *side)
{
    clr_memory_free((void *)side->of);
    clr_memory_free(side->fields);
    clr_memory_free((void *)side->columns);
    clr_memory_free(side->changed);
}

/* Tells the image's layout how many rows, and bytes of TEXT and BLOBs, there is room for. Returns
   false if the rows are known to be too many. */
static bool make_room(struct clr_column_request *request)
{
    const int columns = request->query->column_count, row_bytes = CLR_ROW_BYTES * (columns + 1);
    const int64_t budget = clr_column_memory();
    struct clr_image *image = request->image;
    const size_t rows = atomic_load(&image->table->rows);
    size_t most = (size_t)(budget / row_bytes);

    if (most == 0)
        most = 1;
    image->layout.most_bytes = (size_t)budget;
    image->layout.row_bytes = columns == 0 ? 0 : (size_t)row_bytes;
    image->layout.most_rows = columns == 0 ? 0 : most; /* rows that are only counted take none */
    image->layout.may_guess = rows == 0;
    sqlite3_randomness(sizeof image->layout.seed, &image->layout.seed);
    return columns == 0 || rows <= most;
}

/* Drops columns with bytes that somebody still refers to: a refresh would take them their bytes. */
static void drop_held(struct clr_image *image)
{
    struct clr_image_column **link = &image->columns;

    while (*link != NULL) {
        const struct clr_column *column = (*link)->column;

        if (clr_column_has_addresses(column) && atomic_load(&column->references) > 1)
            clr_image_remove(link);
        else
            link = &(*link)->next;
    }
}

/* Notes which of the columns a device shares that does nothing with it now; or none. A copy goes
   when its column changes. */
static void note_lent(const struct side *side, bool ends)
{
    int i;

    for (i = 0; i < side->count; i++) {
        const struct clr_sharded *copy = side->of[i]->copy;

        side->columns[i]->is_lent = !ends && copy != NULL && clr_sharded_lends(copy);
    }
}

/* Says of the columns that SQLite evaluates which leaves they lack from now on. NULL: none. */
static void note_unvalued(struct clr_image *image, struct clr_page_set *leaves)
{
    struct clr_image_column **link = &image->columns;

    while (*link != NULL && leaves != NULL && clr_page_set_next(leaves, 0) != 0) {
        if (clr_field_is_evaluated(&(*link)->field) && !clr_image_add_unvalued(*link, leaves))
            clr_image_remove(link);
        else
            link = &(*link)->next;
    }
    clr_page_set_free(leaves);
}

/* With what has changed, for an image that may be changed: brings its columns to the snapshot's
   version. Returns DONE; STOPPED with the image as it was; or another outcome. */
static enum clr_load_outcome refresh_columns(struct clr_column_request *request,
                                             const struct clr_page_set *changes)
{
    struct clr_stats *stats = &request->connection->stats;
    struct clr_refresh_report report = {.has_moved = false};
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;
    struct clr_image *image = request->image;
    struct side side;
    int i;

    make_room(request);
    drop_held(image);
    if (side_init(&side, image)) {
        note_lent(&side, false);
        outcome =
            clr_refresh(&request->snapshot.source, image->root, changes, side.fields, side.count,
                        &image->layout, side.columns, side.changed, request->watch, &report);
        note_lent(&side, true);
    }
    stats->bytes_decoded += report.bytes_read;
    for (i = 0; i < side.count && report.has_moved; i++) {
        if (side.changed[i])
            clr_image_replace(side.of[i], side.columns[i], report.rows_stay ? &report.fresh : NULL);
    }
    note_unvalued(image, report.unvalued);
    side_free(&side);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    image->token = request->snapshot.token;
    atomic_store(&image->table->rows, image->layout.rows);
    stats->leaves_kept += (int64_t)(report.leaves - report.leaves_read);
    stats->leaves_refreshed += (int64_t)report.leaves_read;
    request->reading = (struct clr_reading){.kind = CLR_READ_REFRESHED,
                                            .amount = report.bytes_read,
                                            .leaves_read = report.leaves_read,
                                            .leaves = report.leaves};
    return outcome;
}

/* Finds out which pages have changed since the image's version. Returns them, to be freed, or NULL
   if that is not known. What is wrong with the snapshot is said when the columns are loaded. */
static struct clr_page_set *find_changes(struct clr_column_request *request)
{
    const struct clr_image *image = request->image;

    if (request->is_filled || image->root != request->table->root || image->layout.leaves == NULL ||
        image->layout.is_index != request->table->without_rowid ||
        clr_snapshot_open(request->database, &request->snapshot, request->watch) != CLR_WHY_NONE)
        return NULL;
    return clr_snapshot_changes(request->database, &request->snapshot, &image->token,
                                request->watch);
}

/* Makes a stale image, whose table is busy, one of the version that was begun: it is refreshed from
   pages, or else emptied. Returns SQLITE_OK; or SQLITE_INTERRUPT or SQLITE_NOMEM, with the image as
   it was, or of that version. */
static int make_fresh(struct clr_column_request *request)
{
    struct clr_page_set *changes = find_changes(request);
    const bool is_stopped = request->snapshot.is_stopped;
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;
    int rc = SQLITE_OK;

    if (is_stopped || !clr_cache_begin_change(&request->image, request->watch, changes != NULL)) {
        clr_page_set_free(changes);
        clr_cache_end_load(request->image);
        return is_stopped ? SQLITE_INTERRUPT : SQLITE_NOMEM;
    }
    if (changes != NULL)
        outcome = refresh_columns(request, changes);
    if (outcome == CLR_LOAD_DONE)
        rc = evaluate_again(request);
    if (request->is_filled)
        clr_row_attempts_end(request->image->table);
    if (outcome != CLR_LOAD_DONE && outcome != CLR_LOAD_STOPPED)
        clr_image_empty(request->image, request->table->root, &request->snapshot.token);
    request->is_stale = outcome != CLR_LOAD_DONE;
    clr_cache_end_load(request->image);
    clr_page_set_free(changes);
    return outcome == CLR_LOAD_STOPPED ? SQLITE_INTERRUPT : rc;
}

/* ---- Loading columns from pages. */

int clr_column_request_unread(struct clr_column_request *request, enum clr_load_outcome outcome,
                              const struct clr_load_report *report, const struct clr_status *status)
{
    request->connection->stats.bytes_decoded += report->bytes_read;
    switch (outcome) {
    case CLR_LOAD_STOPPED:
        return SQLITE_INTERRUPT;
    case CLR_LOAD_MALFORMED:
        request->connection->stats.malformed_page = report->page;
        clr_reason_set_numbers(&request->reason, CLR_WHY_MALFORMED_PAGE, report->page, 0);
        break;
    case CLR_LOAD_UNSUPPORTED:
        request->no_pages = CLR_WHY_OLDER_ROWS;
        break;
    case CLR_LOAD_TOO_LARGE:
        request->is_too_large = true;
        break;
    case CLR_LOAD_UNSURE:
        clr_reason_set(&request->reason, CLR_WHY_VALUE);
        break;
    default:
        clr_reason_set_name(&request->reason, CLR_WHY_LOAD_FAILED, status->message,
                            strlen(status->message));
        break;
    }
    return SQLITE_OK;
}

/* Leaves less room for the bytes that are to be loaded, or dictionaries, for those that are here
   already. */
static void count_bytes(struct clr_column_request *request)
{
    struct clr_layout *layout = &request->image->layout;
    const struct clr_image_column *column;
    size_t bytes;
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        column = clr_column_request_find(request, i);
        bytes = column == NULL ? 0 : column->column->bytes.size;
        if (column != NULL && column->column->dictionary != NULL)
            bytes = clr_dictionary_size(column->column->dictionary);
        layout->most_bytes -= bytes < layout->most_bytes ? bytes : layout->most_bytes - 1;
    }
}

static bool needs_bytes(const struct clr_query *query)
{
    int i;

    for (i = 0;
         i < query->column_count && !query->columns[i].with_bytes && !query->columns[i].with_codes;
         i++)
        ;
    return i < query->column_count;
}

/* Whether a load has ended since a column of a pattern has more than TEXT, or may have. */
static bool lacks_text(enum clr_load_outcome outcome, const struct clr_new_columns *load, int field)
{
    int i;

    if (outcome != CLR_LOAD_UNSUPPORTED)
        return outcome == CLR_LOAD_MANY_VALUES && load->fields[field].pattern_size > 0;
    for (i = 0; i < load->count && load->fields[i].pattern_size == 0; i++)
        ;
    return i < load->count;
}

/* For a table that is busy: loads the columns that the image lacks from pages. */
static int load_columns(struct clr_column_request *request)
{
    struct clr_load_report report = {.bytes_read = 0};
    struct clr_new_columns load;
    struct clr_image *image = request->image;
    struct clr_status status;
    enum clr_load_outcome outcome;
    enum clr_reason_code why;

    find_lacking(request, false, &load);
    if (load.count == 0 && image->layout.known)
        return SQLITE_OK;
    why = clr_snapshot_open(request->database, &request->snapshot, request->watch);
    if (why != CLR_WHY_NONE) {
        clr_reason_set(&request->reason, why);
        return request->snapshot.is_stopped ? SQLITE_INTERRUPT : SQLITE_OK;
    }
    if (clr_column_request_expects_many_values(request))
        return SQLITE_OK;
    request->is_too_large = !make_room(request) || clr_backoff_skips(request->keeping);
    if (request->is_too_large)
        return SQLITE_OK;
    count_bytes(request);
    clr_status_clear(&status);
    outcome = clr_load(&request->snapshot.source, image->root, load.fields, load.count,
                       &image->layout, load.columns, request->watch, &report, &status);
    if (outcome == CLR_LOAD_DONE) {
        atomic_store(&image->table->rows, image->layout.rows);
        request->connection->stats.bytes_decoded += report.bytes_read;
        request->reading =
            (struct clr_reading){.kind = request->is_stale ? CLR_READ_CHANGED : CLR_READ_ABSENT,
                                 .amount = report.bytes_read};
        return clr_column_request_keep(request, &load);
    }
    if (lacks_text(outcome, &load, report.field)) {
        request->connection->stats.bytes_decoded += report.bytes_read;
        request->deriving->has_no_patterns = true;
        return SQLITE_OK;
    }
    if (outcome == CLR_LOAD_MANY_VALUES) {
        request->connection->stats.bytes_decoded += report.bytes_read;
        clr_column_request_has_many_values(request, &load.fields[report.field]);
        return SQLITE_OK;
    }
    if (outcome == CLR_LOAD_TOO_LARGE && needs_bytes(request->query))
        clr_backoff_failed(request->keeping, CLR_BACKOFF_MOST);
    return clr_column_request_unread(request, outcome, &report, &status);
}

/* For a table that is busy: brings the columns that the image lacks, where there are pages. */
static int read_pages(struct clr_column_request *request)
{
    const bool has_no_patterns = request->deriving->has_no_patterns;
    struct clr_new_columns derived;
    bool derives;
    int rc = evaluate_again(request);

    if (rc != SQLITE_OK)
        return rc;
    find_lacking(request, true, &derived);
    derives = derived.count > 0;
    if (derives && !are_derived_due(request))
        return SQLITE_OK;
    rc = load_columns(request);
    if (request->deriving->has_no_patterns != has_no_patterns)
        return read_pages(request);
    if (derives && rc == SQLITE_OK && request->reason.code == CLR_WHY_NONE &&
        request->no_pages == CLR_WHY_NONE && request->image->layout.known && !request->is_too_large)
        rc = make_derived(request);
    return rc;
}

/* ---- All. */

/* Begins a version of the database, and finds the image of the table in it, unless the request says
   why not: then there is no image. */
static int begin(struct clr_column_request *request)
{
    enum clr_reason_code why;
    enum clr_entry entry;
    int rc;

    request->is_begun = true;
    if (request->is_filled) {
        rc = clr_row_version_begin(request->database, &request->snapshot.token, &why);
    } else {
        arrive(request);
        rc = clr_snapshot_begin(request->database, &request->snapshot, &why);
        request->decoded = request->connection->stats.bytes_decoded;
    }
    if (why != CLR_WHY_NONE)
        refuse_version(request, why);
    if (rc == SQLITE_OK && why == CLR_WHY_NONE && is_current(request)) {
        if (request->is_filled)
            clr_row_columns_check(request);
        else
            rc = check_derived(request);
    }
    if (rc != SQLITE_OK || why != CLR_WHY_NONE || request->is_outdated ||
        request->reason.code != CLR_WHY_NONE) {
        clr_cache_turn_back(&request->arrival);
        return rc;
    }
    request->snapshot.source.is_index = request->table->without_rowid;
    entry = enter(request);
    if (entry != CLR_ENTRY_FRESH && entry != CLR_ENTRY_STALE)
        return missed(request, entry);
    if (entry == CLR_ENTRY_STALE)
        rc = make_fresh(request);
    if (rc == SQLITE_OK)
        pin_resident(request);
    return rc;
}

/* Brings the columns that the image lacks. */
static int bring(struct clr_column_request *request)
{
    const enum clr_entry entry = clr_cache_begin_load(request->image, request->watch);
    int rc = SQLITE_OK;

    if (entry != CLR_ENTRY_FRESH)
        return missed(request, entry);
    pin_resident(request); /* others may have brought them meanwhile */
    if (!request->has_columns) {
        rc = request->is_filled ? clr_row_columns_fill(request) : read_pages(request);
        if (rc == SQLITE_OK && request->reason.code == CLR_WHY_NONE)
            pin(request);
    }
    clr_cache_end_load(request->image);
    return rc;
}

int clr_columns_bring(struct clr_column_request *request, bool is_filled)
{
    int rc;

    request->is_filled = is_filled;
    rc = begin(request);
    if (rc == SQLITE_OK && request->image != NULL && !request->has_columns)
        rc = bring(request);
    return rc;
}
