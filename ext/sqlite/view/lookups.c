#include "sqlite/view/lookups.h"

#include "base/memory.h"
#include "numeric/dictionary/dictionary.h"
#include "numeric/scan/scan.h"
#include "query/query.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"
#include "sqlite/session/virtual_table.h"

#include <stdlib.h>
#include <string.h>

/* ---- The entries of a dictionary as a table that SQLite reads. */

/*
 * The tables are eponymous: nothing is created in a schema. Each stays registered with the
 * connection, as a statement that was prepared may still need it.
 */

/* An entry that takes a turn. */
struct sorted_entry {
    int64_t bits; /* of its value */
    uint32_t number;
};

/* What a statement reads: the entries from `first` on, up to `end`, behind which others may be
   added meanwhile. Bound as a pointer, and the binder's. */
struct entries {
    const struct clr_dictionary *dictionary;
    int encoding; /* of TEXT: SQLITE_UTF8, SQLITE_UTF16LE or SQLITE_UTF16BE */
    uint32_t first, end;
    /* Of each entry that stands for the times of a unit the last one of them takes its place. */
    enum clr_time_unit last_of;
    const struct sorted_entry *order; /* by their turns; NULL: they come by their numbers */
};

static uint32_t entry_at(const struct entries *entries, uint32_t turn)
{
    return entries->order == NULL ? turn : entries->order[turn].number;
}

struct module {
    struct module *next;
    char *declaration;
    char name[]; /* as the connection knows it, without quotes */
};

struct modules {
    struct clr_attachment base;
    struct module *first;
};

static const char pointer_type[] = "clreduce entries";

static char *write_name(const struct clr_column_type *type, const char *format)
{
    return sqlite3_mprintf(format, (int)type->affinity, type->collation);
}

static char *entries_name(const struct clr_column_type *type)
{
    return write_name(type, "\"clreduce_entries_%d_%w\"");
}

/* ---- The table. */

enum { ENTRY, SOURCE };

static int connect_table(sqlite3 *db, void *argument, int count, const char *const *arguments,
                         sqlite3_vtab **table, char **error)
{
    const struct module *module = argument;
    const int rc = clr_virtual_table_connect(db, module->declaration, argument, table);

    (void)count;
    (void)arguments;
    (void)error;
    if (rc == SQLITE_OK)
        ((struct clr_virtual_table *)*table)->source = SOURCE;
    return rc;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                  sqlite3_value **arguments)
{
    struct clr_bound_cursor *cursor = (struct clr_bound_cursor *)base;
    const struct entries *entries =
        count == 1 ? sqlite3_value_pointer(arguments[0], pointer_type) : NULL;

    (void)number;
    (void)text;
    cursor->source = entries;
    cursor->row = entries == NULL ? 0 : entries->first;
    cursor->end = entries == NULL ? 0 : entries->end;
    return SQLITE_OK;
}

/* Gives the last time of the unit that an entry stands for. */
static void set_last(sqlite3_context *result, const struct entries *entries,
                     const struct clr_scalar *entry)
{
    unsigned char last[CLR_TIMESTAMP_MOST];
    struct clr_scalar number;
    struct clr_value value;

    if (entry->tag != CLR_TAG_BYTES) {
        number = clr_time_unit_of_number(entries->last_of, true, *entry);
        clr_scalar_set(result, &number, entries->encoding, SQLITE_STATIC);
        return;
    }
    value = clr_bytes_value(entry->bits);
    if (value.kind == CLR_KIND_TEXT &&
        clr_time_unit_of_text(entries->last_of, true, value.bytes, value.as.size, last))
        sqlite3_result_text(result, (const char *)last, (int)value.as.size, SQLITE_TRANSIENT);
    else
        clr_scalar_set(result, entry, entries->encoding, SQLITE_STATIC);
}

/* The bytes stay the dictionary's, which outlives the statement's step. */
static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int number)
{
    const struct clr_bound_cursor *cursor = (const struct clr_bound_cursor *)base;
    const struct entries *entries = cursor->source;
    const struct clr_scalar *entry =
        &entries->dictionary->entries[entry_at(entries, (uint32_t)cursor->row)];

    if (number == ENTRY && entries->last_of != CLR_TIME_NONE)
        set_last(result, entries, entry);
    else if (number == ENTRY)
        clr_scalar_set(result, entry, entries->encoding, SQLITE_STATIC);
    return SQLITE_OK;
}

/* ---- Registering it. */

static void free_modules(struct clr_connection *connection, void *attachment)
{
    struct modules *modules = attachment;
    struct module *module;

    (void)connection;
    while ((module = modules->first) != NULL) {
        modules->first = module->next;
        sqlite3_free(module->declaration);
        sqlite3_free(module);
    }
}

static struct module *new_module(const struct clr_column_type *type, const char *name)
{
    struct module *module = sqlite3_malloc64(sizeof *module + strlen(name) + 1);

    if (module == NULL)
        return NULL;
    memcpy(module->name, name, strlen(name) + 1);
    module->declaration =
        sqlite3_mprintf("CREATE TABLE entries(\"" CLR_LOOKUP_COLUMN "\"%s COLLATE \"%w\", "
                        "source HIDDEN)",
                        clr_affinity_declaration(type->affinity), type->collation);
    if (module->declaration != NULL)
        return module;
    sqlite3_free(module);
    return NULL;
}

static int register_entries(struct clr_connection *connection, const struct clr_column_type *type)
{
    static const struct clr_attachment_kind kind = {sizeof(struct modules), free_modules};
    static const sqlite3_module methods = {.iVersion = 0,
                                           .xConnect = connect_table,
                                           .xBestIndex = clr_bound_best_index,
                                           .xDisconnect = clr_virtual_table_disconnect,
                                           .xOpen = clr_bound_open,
                                           .xClose = clr_virtual_table_close,
                                           .xFilter = filter,
                                           .xNext = clr_bound_next,
                                           .xEof = clr_bound_eof,
                                           .xColumn = column,
                                           .xRowid = clr_bound_rowid};
    struct modules *modules = clr_connection_attach(connection, &kind);
    char *name;
    struct module *module;
    int rc = SQLITE_NOMEM;

    if (clr_schema_may_go(connection->db))
        return SQLITE_ERROR;
    name = write_name(type, "clreduce_entries_%d_%s");
    if (modules == NULL || name == NULL)
        goto done;
    rc = SQLITE_OK;
    for (module = modules->first; module != NULL; module = module->next) {
        if (sqlite3_stricmp(module->name, name) == 0)
            goto done;
    }
    module = new_module(type, name);
    if (module == NULL) {
        rc = SQLITE_NOMEM;
        goto done;
    }
    module->next = modules->first;
    modules->first = module;
    rc = sqlite3_create_module_v2(connection->db, module->name, &methods, module, NULL);
    if (rc != SQLITE_OK) {
        modules->first = module->next;
        sqlite3_free(module->declaration);
        sqlite3_free(module);
    }
done:
    sqlite3_free(name);
    return rc;
}

static int bind_entries(sqlite3_stmt *statement, int parameter, struct entries *entries)
{
    return sqlite3_bind_pointer(statement, parameter, entries, pointer_type, NULL);
}

/* ---- The statement of a lookup. */

/* Where so many entries have errors, nothing more is asked: the others are UNSURE. Each error
   begins the statement anew. */
enum { MOST_ERRORS = 100 };

int clr_lookup_statement_write(sqlite3 *db, const struct clr_table_info *table,
                               const struct clr_query *query, const struct clr_lookup_plan *plan,
                               int parameter_count, struct clr_lookup_statement *statement)
{
    char *name;
    int rc = query->columns[plan->column].derived != NULL
                 ? clr_column_type_none(&statement->type)
                 : clr_column_type_find(db, table, query->columns[plan->column].number,
                                        &statement->type);

    statement->sql = NULL;
    statement->source = parameter_count + 1;
    statement->is_ranked = plan->is_ranked;
    statement->is_timed = plan->is_timed;
    statement->joins = plan->joins != NULL;
    statement->unit = query->columns[plan->column].unit;
    if (rc != SQLITE_OK)
        return rc;
    name = entries_name(&statement->type);
    if (name == NULL)
        return SQLITE_NOMEM;
    /* The entry itself comes along: an authorizer may put NULL in its place. */
    statement->sql = sqlite3_mprintf(
        "SELECT (%s), " CLR_LOOKUP_ENTRY " FROM %s(?%d) AS \"" CLR_LOOKUP_TABLE "\"%s", plan->text,
        name, statement->source, plan->joins == NULL ? "" : plan->joins);
    sqlite3_free(name);
    return statement->sql == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

void clr_lookup_statement_free(struct clr_lookup_statement *statement)
{
    clr_column_type_free(&statement->type);
    sqlite3_free(statement->sql);
    statement->sql = NULL;
}

static void free_lookup(struct clr_lookup *lookup)
{
    clr_lookup_results_release(lookup->results);
    clr_memory_free(lookup->ranked);
    clr_bytes_free(&lookup->bytes);
    memset(lookup, 0, sizeof *lookup);
}

/* ---- Evaluating. */

/* What is filled: of results that are to be ranked the values as they are, with their bytes. */
struct results {
    struct clr_lookup_results *shared;
    int64_t *values; /* of those, as are the tags */
    uint8_t *tags;
    struct clr_scalar *unranked;
    struct clr_bytes bytes;
};

static bool new_results(uint32_t count, bool is_ranked, struct results *results)
{
    uint32_t i;

    *results = (struct results){.shared = NULL};
    if (is_ranked) {
        results->unranked = clr_memory_alloc((count + (size_t)1) * sizeof *results->unranked);
        if (results->unranked == NULL)
            return false;
        for (i = 0; i < count; i++)
            results->unranked[i] = (struct clr_scalar){.tag = CLR_TAG_UNSURE};
    }
    results->shared = clr_lookup_results_new(count);
    if (results->shared == NULL)
        return false;
    results->values = results->shared->values;
    results->tags = results->shared->tags;
    return true;
}

static int bind(sqlite3_stmt *statement, const struct clr_lookup_input *input)
{
    const int count = sqlite3_bind_parameter_count(statement);
    int rc = SQLITE_OK, i;

    for (i = 0; i < input->parameter_count && i < count && rc == SQLITE_OK; i++) {
        if (input->parameters[i] != NULL)
            rc = clr_value_bind(statement, i + 1, input->parameters[i]);
    }
    return rc;
}

/* SQLite's type of an entry. */
static int type_of(const struct clr_scalar *entry)
{
    switch (entry->tag) {
    case CLR_TAG_NULL:
        return SQLITE_NULL;
    case CLR_TAG_INTEGER:
        return SQLITE_INTEGER;
    case CLR_TAG_REAL:
        return SQLITE_FLOAT;
    default:
        return clr_bytes_value(entry->bits).kind == CLR_KIND_TEXT ? SQLITE_TEXT : SQLITE_BLOB;
    }
}

/* Whether an entry is TEXT that SQLite's versions treat differently: UTF-16 of an odd number of
   bytes. */
static bool is_doubtful(const struct clr_scalar *entry, int encoding)
{
    struct clr_value value;

    if (entry->tag != CLR_TAG_BYTES || encoding == SQLITE_UTF8)
        return false;
    value = clr_bytes_value(entry->bits);
    return value.kind == CLR_KIND_TEXT && value.as.size % 2 != 0;
}

/* Whether a result is in UTF-8, in which it is kept, what it is in the database's encoding. */
static bool is_kept(sqlite3_stmt *statement, int encoding)
{
    const void *bytes;

    if (encoding == SQLITE_UTF8 || sqlite3_column_type(statement, 0) != SQLITE_TEXT)
        return true;
    /* Unconverted, as it is asked for before its size. */
    bytes = sqlite3_column_blob(statement, 0);
    return clr_encoding_keeps_utf16(bytes, (size_t)sqlite3_column_bytes(statement, 0), encoding);
}

/* Keeps a result that is TEXT or a BLOB. Returns SQLITE_OK or SQLITE_NOMEM. */
static int keep_bytes(sqlite3_stmt *statement, struct clr_bytes *bytes, int64_t *address)
{
    const bool is_text = sqlite3_column_type(statement, 0) == SQLITE_TEXT;
    const void *from = is_text ? (const void *)sqlite3_column_text(statement, 0)
                               : sqlite3_column_blob(statement, 0);
    const int size = sqlite3_column_bytes(statement, 0);
    unsigned char *to;

    if (from == NULL && size > 0)
        return SQLITE_NOMEM;
    to = clr_bytes_add(bytes, is_text ? CLR_KIND_TEXT : CLR_KIND_BLOB, (size_t)size, address);
    if (to == NULL)
        return SQLITE_NOMEM;
    if (size > 0)
        memcpy(to, from, (size_t)size);
    return SQLITE_OK;
}

/* Takes the statement's row for an entry. Returns SQLITE_OK; SQLITE_AUTH if the row is not that
   entry's; or SQLITE_NOMEM. */
static int take_row(sqlite3_stmt *statement, const struct clr_lookup_input *input, uint32_t code,
                    struct results *results)
{
    const struct clr_scalar *entry = &input->dictionary->entries[code];
    struct clr_scalar result;
    int rc = SQLITE_OK;

    if (sqlite3_column_type(statement, 1) != type_of(entry))
        return SQLITE_AUTH;
    if (is_doubtful(entry, input->encoding))
        return SQLITE_OK;
    result = clr_scalar_of(sqlite3_column_value(statement, 0));
    if (results->unranked == NULL) {
        results->tags[code] = result.tag;
        results->values[code] = result.bits;
        return SQLITE_OK;
    }
    if (!is_kept(statement, input->encoding))
        return SQLITE_OK;
    if (result.tag == CLR_TAG_BYTES)
        rc = keep_bytes(statement, &results->bytes, &result.bits);
    if (rc == SQLITE_OK)
        results->unranked[code] = result;
    return rc;
}

/* Whether an error is that of the entry alone. */
static bool is_entrys(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_RANGE:
        return true;
    default:
        return false;
    }
}

/* ---- The order in which tables are asked for entries. */

static int compare_entries(const void *a, const void *b)
{
    const struct sorted_entry *x = a, *y = b;

    return (x->bits > y->bits) - (x->bits < y->bits);
}

/*
 * Returns the turns of the entries from one on, up to `count`, in the order of their values: rows
 * of a table with such keys lie next to each other then. The order is a matter of speed alone:
 * NULL, without memory for it, is by their numbers. To be freed with clr_memory_free().
 */
static struct sorted_entry *sort_entries(const struct clr_dictionary *dictionary, uint32_t begin,
                                         uint32_t count)
{
    struct sorted_entry *sorted = clr_memory_alloc((count + (size_t)1) * sizeof *sorted);
    uint32_t i;

    if (sorted == NULL)
        return NULL;
    for (i = begin; i < count; i++)
        sorted[i] = (struct sorted_entry){dictionary->entries[i].bits, i};
    qsort(sorted + begin, count - begin, sizeof *sorted, compare_entries);
    return sorted;
}

/* Evaluates the entries from one on, up to `count`, in that order, beginning anew behind each that
   has an error. Returns SQLite's code; any other than SQLITE_OK is that of the whole. */
static int evaluate_entries(sqlite3_stmt *statement, int source,
                            const struct clr_lookup_input *input, uint32_t code, uint32_t count,
                            const struct sorted_entry *order, struct results *results)
{
    struct entries entries = {
        input->dictionary, input->encoding, code, count, CLR_TIME_NONE, order};
    int errors = 0, rc = bind_entries(statement, source, &entries);

    while (rc == SQLITE_OK && code < count && errors < MOST_ERRORS) {
        entries.first = code;
        while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
            /* A key that is not unique, though the schema has it so, is a sign of a file that is
               damaged. */
            rc = code == count ? SQLITE_CORRUPT
                               : take_row(statement, input, entry_at(&entries, code++), results);
            if (rc != SQLITE_OK) {
                sqlite3_reset(statement);
                return rc;
            }
        }
        rc = sqlite3_reset(statement);
        if (rc == SQLITE_OK)
            break;
        if (code == count)
            return rc;
        code++;
        errors++;
        if (is_entrys(rc))
            rc = SQLITE_OK;
    }
    return rc;
}

/* Makes ranks of the results, and moves what they are of to the lookup. */
static int rank(struct results *results, uint32_t count, struct clr_lookup *lookup)
{
    uint32_t i;

    if (clr_ranks_replace(results->unranked, count, &lookup->ranked, &lookup->ranked_count) !=
        CLR_OK)
        return SQLITE_NOMEM;
    for (i = 0; i < count; i++) {
        results->tags[i] = results->unranked[i].tag;
        results->values[i] = results->unranked[i].bits;
    }
    lookup->bytes = results->bytes;
    results->bytes = (struct clr_bytes){.blocks = NULL};
    return SQLITE_OK;
}

/* ---- Whether the times of a unit are alike. */

/* Whether two values are of one type, and the same. */
static bool are_same(sqlite3_value *a, sqlite3_value *b)
{
    const int type = sqlite3_value_type(a);
    const void *x_bytes, *y_bytes;
    double x, y;
    int size;

    if (type != sqlite3_value_type(b))
        return false;
    switch (type) {
    case SQLITE_NULL:
        return true;
    case SQLITE_INTEGER:
        return sqlite3_value_int64(a) == sqlite3_value_int64(b);
    case SQLITE_FLOAT:
        x = sqlite3_value_double(a);
        y = sqlite3_value_double(b);
        return memcmp(&x, &y, sizeof x) == 0;
    default:
        break;
    }
    /* The bytes as they are, without a conversion: asked for before their number. */
    x_bytes = sqlite3_value_blob(a);
    y_bytes = sqlite3_value_blob(b);
    size = sqlite3_value_bytes(a);
    return sqlite3_value_bytes(b) == size &&
           (size == 0 || memcmp(x_bytes, y_bytes, (size_t)size) == 0);
}

/* How many entries are looked at. */
enum { SAMPLED_ENTRIES = 64 };

/* Keeps what the statement gives of an entry's last time, if it gives anything. Returns SQLite's
   code. */
static int take_last(sqlite3_stmt *statement, int source, struct entries *entries,
                     sqlite3_value **value)
{
    int rc;

    *value = NULL;
    rc = bind_entries(statement, source, entries);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) {
        *value = sqlite3_value_dup(sqlite3_column_value(statement, 0));
        sqlite3_reset(statement);
        return *value == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    rc = sqlite3_reset(statement);
    return is_entrys(rc) ? SQLITE_OK : rc;
}

/*
 * The rules by which an expression is said to be alike for all times of a unit are checked by some
 * of the entries: SQLite evaluates it for the first and for the last time of each. *alike: whether
 * all were.
 */
static int check_units(sqlite3_stmt *prepared, const struct clr_lookup_statement *statement,
                       const struct clr_lookup_input *input, bool *alike)
{
    const uint32_t count = input->dictionary->count;
    const uint32_t step = count / SAMPLED_ENTRIES + 1;
    int rc = bind(prepared, input);
    uint32_t code;

    *alike = true;
    for (code = 0; code < count && rc == SQLITE_OK && *alike; code += step) {
        struct entries entries = {.dictionary = input->dictionary,
                                  .encoding = input->encoding,
                                  .first = code,
                                  .end = code + 1};
        sqlite3_value *first, *last = NULL;

        rc = take_last(prepared, statement->source, &entries, &first);
        entries.last_of = statement->unit;
        if (rc == SQLITE_OK)
            rc = take_last(prepared, statement->source, &entries, &last);
        *alike = (first == NULL) == (last == NULL) && (first == NULL || are_same(first, last));
        sqlite3_value_free(first);
        sqlite3_value_free(last);
    }
    sqlite3_clear_bindings(prepared);
    return rc;
}

/* Copies what is known of the first entries, which may be all NULL. */
static void take_known(const struct clr_lookup *known, struct results *results)
{
    if (known->count == 0)
        return;
    memcpy(results->values, known->values, known->count * sizeof *known->values);
    memcpy(results->tags, known->tags, known->count);
}

static int evaluate(sqlite3 *db, sqlite3_stmt *prepared,
                    const struct clr_lookup_statement *statement,
                    const struct clr_lookup_input *input, struct clr_lookup *lookup,
                    struct clr_reason *reason)
{
    const uint32_t count = input->dictionary->count;
    struct results results = {.shared = NULL};
    struct sorted_entry *order = NULL;
    int rc = SQLITE_NOMEM;

    if (statement->is_ranked)
        free_lookup(lookup);
    if (statement->joins)
        order = sort_entries(input->dictionary, lookup->count, count);
    if (new_results(count, statement->is_ranked, &results)) {
        take_known(lookup, &results);
        rc = bind(prepared, input);
    }
    if (rc == SQLITE_OK)
        rc = evaluate_entries(prepared, statement->source, input, lookup->count, count, order,
                              &results);
    clr_memory_free(order);
    free_lookup(lookup);
    if (rc == SQLITE_OK && statement->is_ranked)
        rc = rank(&results, count, lookup);
    if (rc == SQLITE_OK) {
        clr_lookup_set(lookup, results.shared, count);
    } else {
        clr_lookup_results_release(results.shared);
        if (rc != SQLITE_NOMEM && rc != SQLITE_INTERRUPT)
            clr_statement_refuse(db, rc, reason);
    }
    sqlite3_clear_bindings(prepared);
    clr_memory_free(results.unranked);
    clr_bytes_free(&results.bytes);
    return rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT ? rc : SQLITE_OK;
}

/* Fewer entries are evaluated sooner than it is found out whether their results still hold. */
enum { LEAST_ENTRIES = 512 };

static void free_parameters(struct clr_lookup_memo *memo)
{
    int i;

    for (i = 0; i < memo->parameter_count; i++)
        sqlite3_value_free(memo->parameters[i]);
    sqlite3_free((void *)memo->parameters);
    memo->parameters = NULL;
    memo->parameter_count = 0;
}

void clr_lookup_memo_free(struct clr_lookup_memo *memo)
{
    free_lookup(&memo->lookup);
    free_parameters(memo);
    sqlite3_finalize(memo->statement);
    memset(memo, 0, sizeof *memo);
}

/* ---- Whether what was kept still holds. */

static bool has_parameters(const struct clr_lookup_memo *memo, const struct clr_lookup_input *input)
{
    int i;

    if (memo->parameter_count != input->parameter_count)
        return false;
    for (i = 0; i < input->parameter_count; i++) {
        sqlite3_value *kept = memo->parameters[i], *given = input->parameters[i];

        if ((kept == NULL) != (given == NULL) || (kept != NULL && !are_same(kept, given)))
            return false;
    }
    return true;
}

static void read_limits(sqlite3 *db, int limits[2])
{
    limits[0] = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
    limits[1] = sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
}

/*
 * Whether SQLite would evaluate the statement as it did. A function or a collating sequence that is
 * replaced expires all statements, and SQLite prepares this one again when it is stepped; one that
 * comes beside others of its name, and an authorizer that goes, show in the program.
 */
static bool holds(struct clr_connection *connection, struct clr_lookup_memo *memo,
                  const struct clr_lookup_statement *statement,
                  const struct clr_lookup_input *input)
{
    struct entries none = {.dictionary = input->dictionary, .encoding = input->encoding};
    int limits[2];
    bool same;

    if (!memo->is_kept || memo->dictionary != input->dictionary->id ||
        (statement->joins && memo->version != input->version) ||
        memo->lookup.count > input->dictionary->count || !has_parameters(memo, input))
        return false;
    read_limits(connection->db, limits);
    if (memcmp(limits, memo->limits, sizeof limits) != 0)
        return false;
    same = bind_entries(memo->statement, statement->source, &none) == SQLITE_OK &&
           sqlite3_step(memo->statement) == SQLITE_DONE;
    sqlite3_reset(memo->statement);
    sqlite3_clear_bindings(memo->statement);
    return same &&
           sqlite3_stmt_status(memo->statement, SQLITE_STMTSTATUS_REPREPARE, 0) ==
               memo->preparations &&
           clr_bytecode_hash(connection->db, statement->sql) == memo->program;
}

/* ---- Keeping it. */

/* Whether TEXT, or some made of it, may stand for the present time, or for the time zone, to a
   function of times. That reads no further than a zero. */
static bool is_present(const char *text, size_t size)
{
    static const char *const words[] = {"now", "localtime", "utc", "subsec", "subsecond"};
    size_t i;

    if (size > 0 && memchr(text, 0, size) != NULL)
        return true;
    while (size > 0 && strchr(" \t\n\v\f\r", text[size - 1]) != NULL)
        size--;
    for (; size > 0 && strchr(" \t\n\v\f\r", *text) != NULL; text++)
        size--;
    for (i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == size && sqlite3_strnicmp(text, words[i], (int)size) == 0)
            return true;
    }
    return false;
}

/* Whether a parameter may do so. */
static bool is_present_value(sqlite3_value *value)
{
    const int type = sqlite3_value_type(value);
    const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;

    return type == SQLITE_BLOB ||
           (type == SQLITE_TEXT &&
            (text == NULL || is_present(text, (size_t)sqlite3_value_bytes(value))));
}

/* Whether results may be others at another time. TEXT of UTF-16 is not looked at. */
static bool may_be_present(const struct clr_lookup_statement *statement,
                           const struct clr_lookup_input *input)
{
    uint32_t code;
    int i;

    if (!statement->is_timed || statement->joins)
        return statement->is_timed;
    for (i = 0; i < input->parameter_count; i++) {
        if (input->parameters[i] != NULL && is_present_value(input->parameters[i]))
            return true;
    }
    for (code = 0; code < input->dictionary->count; code++) {
        const struct clr_scalar *entry = &input->dictionary->entries[code];
        struct clr_value value;

        if (entry->tag != CLR_TAG_BYTES)
            continue;
        value = clr_bytes_value(entry->bits);
        if (input->encoding != SQLITE_UTF8 || is_present(value.bytes, value.as.size))
            return true;
    }
    return false;
}

/* Keeps what tells whether the results hold for another query; without memory they don't. */
static void keep(sqlite3 *db, struct clr_lookup_memo *memo,
                 const struct clr_lookup_statement *statement, const struct clr_lookup_input *input)
{
    int i;

    memo->is_kept = false;
    free_parameters(memo);
    if (input->dictionary->count < LEAST_ENTRIES || may_be_present(statement, input))
        return;
    memo->parameters =
        sqlite3_malloc64(((sqlite3_uint64)input->parameter_count + 1) * sizeof *memo->parameters);
    if (memo->parameters == NULL)
        return;
    for (i = 0; i < input->parameter_count; i++) {
        sqlite3_value *given = input->parameters[i];

        memo->parameters[i] = given == NULL ? NULL : sqlite3_value_dup(given);
        memo->parameter_count = i + 1;
        if (given != NULL && memo->parameters[i] == NULL)
            return;
    }
    read_limits(db, memo->limits);
    memo->dictionary = input->dictionary->id;
    memo->version = input->version;
    memo->preparations = sqlite3_stmt_status(memo->statement, SQLITE_STMTSTATUS_REPREPARE, 0);
    memo->program = clr_bytecode_hash(db, statement->sql);
    memo->is_kept = memo->program != 0;
}

int clr_lookup_memo_bring(struct clr_connection *connection, struct clr_lookup_memo *memo,
                          const struct clr_lookup_statement *statement,
                          const struct clr_functions *functions,
                          const struct clr_lookup_input *input, struct clr_reason *reason)
{
    int rc = register_entries(connection, &statement->type);

    if (rc == SQLITE_OK && holds(connection, memo, statement, input)) {
        if (memo->lookup.count == input->dictionary->count)
            return SQLITE_OK;
    } else {
        clr_lookup_memo_free(memo);
        if (rc == SQLITE_OK && !clr_functions_still_are(connection->db, functions)) {
            clr_reason_set(reason, CLR_WHY_REPLACED);
            return SQLITE_OK;
        }
        if (rc == SQLITE_OK)
            rc = clr_statement_make(connection->db, statement->sql, SQLITE_PREPARE_PERSISTENT,
                                    &memo->statement);
        if (rc == SQLITE_NOMEM)
            return rc;
        if (rc != SQLITE_OK) {
            clr_statement_refuse(connection->db, rc, reason);
            return SQLITE_OK;
        }
    }
    if (statement->unit != CLR_TIME_NONE && !memo->has_units) {
        rc = check_units(memo->statement, statement, input, &memo->has_units);
        if (rc == SQLITE_OK && !memo->has_units)
            clr_reason_set(reason, CLR_WHY_MANY_VALUES);
        else if (rc != SQLITE_OK && rc != SQLITE_NOMEM && rc != SQLITE_INTERRUPT)
            clr_statement_refuse(connection->db, rc, reason);
        if (rc != SQLITE_OK || !memo->has_units) {
            clr_lookup_memo_free(memo);
            return rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT ? rc : SQLITE_OK;
        }
    }
    rc = evaluate(connection->db, memo->statement, statement, input, &memo->lookup, reason);
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE)
        keep(connection->db, memo, statement, input);
    else
        clr_lookup_memo_free(memo);
    return rc;
}
