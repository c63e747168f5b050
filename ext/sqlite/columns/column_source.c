#include "sqlite/columns/column_source.h"

#include "base/memory.h"
#include "sqlite/database/row_version.h"
#include "storage/format/page_set.h"
#include "storage/refresh/refresh.h"

#include <string.h>

/* ---- A request's columns: what they are called and known by, which are lacking, and why they
   can't be had. */

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
                                   .program = deriving->programs[i],
                                   .age = query->columns[i].calls_own ? deriving->age : 0};
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
    field.is_joined = query->columns[i].is_joined;
    field.unit = query->columns[i].unit;
    field.times = query->columns[i].times;
    return field;
}

struct clr_image_column *clr_column_request_find(const struct clr_column_request *request, int i)
{
    const struct clr_field field = clr_column_request_field(request, i);

    return clr_image_find(request->image, &field);
}

/* With the cache's lock: returns the link to what is noted of a column's values, or to the list's
   end. */
static struct clr_many_values **find_note(const struct clr_image *image,
                                          const struct clr_field *field)
{
    struct clr_many_values **link = &image->table->many_values;

    while (*link != NULL && !clr_field_is_like(&(*link)->field, field))
        link = &(*link)->next;
    return link;
}

bool clr_column_request_expects_many_values(struct clr_column_request *request)
{
    const struct clr_image *image = request->image;
    struct clr_many_values *note;
    bool is_expected;
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field field = clr_column_request_field(request, i);

        if (field.derived != NULL || field.is_joined || (!field.with_codes && field.times == 0) ||
            clr_column_request_find(request, i) != NULL)
            continue;
        clr_cache_lock();
        note = *find_note(image, &field);
        is_expected =
            note != NULL && (memcmp(&note->token, &image->token, sizeof note->token) == 0 ||
                             clr_backoff_skips(&note->skips));
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

void clr_column_request_refuse_field(struct clr_column_request *request,
                                     const struct clr_field *field)
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
    const struct clr_image *image = request->image;
    struct clr_many_values **link;

    clr_cache_lock();
    link = find_note(image, field);
    if (*link == NULL) {
        *link = clr_memory_alloc_zero(sizeof **link); /* without memory it is found again */
        if (*link != NULL)
            (*link)->field = *field;
    }
    if (*link != NULL) {
        (*link)->token = image->token;
        clr_backoff_failed(&(*link)->skips, 2);
    }
    clr_cache_unlock();
    clr_column_request_refuse_field(request, field);
}

int clr_column_request_keep(struct clr_column_request *request, const struct clr_new_columns *added)
{
    struct clr_image *image = request->image;
    struct clr_many_values **link, *note;
    int i, rc = SQLITE_OK;

    clr_cache_lock();
    for (i = 0; i < added->count; i++) {
        link = find_note(image, &added->fields[i]);
        note = *link;
        if (note != NULL)
            *link = note->next;
        clr_memory_free(note);
        if (clr_image_add(image, added->names[i], &added->fields[i], added->columns[i]) == NULL)
            rc = SQLITE_NOMEM;
    }
    clr_image_measure(image);
    clr_cache_unlock();
    return rc;
}

void clr_column_request_lacking(const struct clr_column_request *request, bool are_derived,
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

/* ---- Requests. */

void clr_column_request_end(struct clr_column_request *request)
{
    const bool has_image = request->image != NULL;
    int i;

    if (!request->is_begun)
        return;
    clr_snapshot_end(request->database, &request->snapshot);
    clr_table_names_release(request->names);
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

/* Within the version's transaction: holds what else the plan reads, and finds out whether its names
   mean what they meant. Returns SQLITE_OK or SQLITE_BUSY. */
static int check_names(struct clr_column_request *request)
{
    bool are_same;
    const int rc =
        clr_table_names_hold(request->names, request->database, &are_same, &request->reason);

    request->is_outdated = rc == SQLITE_OK && !are_same && request->reason.code == CLR_WHY_NONE;
    return rc;
}

static enum clr_entry enter(struct clr_column_request *request)
{
    struct clr_known_file *file = request->is_filled ? NULL : request->snapshot.known;
    sqlite3 *db = request->connection->db;
    const struct clr_cache_place place = {
        .connection = request->connection,
        .file = file,
        .longest = file == NULL ? 0 : (uint32_t)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1),
        .schema = request->database->schema,
        .table = request->table->name,
        .is_filled = request->is_filled};
    const enum clr_entry entry = clr_cache_enter(
        &place, request->table->root, &request->snapshot.token, request->watch, &request->image);

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

/* Adds leaves, by the set of their pages, to those whose rows are to be evaluated again. Returns
   false without memory. */
static bool add_unvalued(struct clr_image_column *column, const struct clr_page_set *leaves)
{
    struct clr_page_set *all = clr_page_set_copy(leaves);

    if (all == NULL)
        return false;
    clr_page_set_take(all, column->unvalued);
    column->unvalued = all;
    return true;
}

/* Says of the columns that SQLite evaluates which leaves they lack from now on. NULL: none. */
static void note_unvalued(struct clr_image *image, struct clr_page_set *leaves)
{
    struct clr_image_column **link = &image->columns;

    while (*link != NULL && leaves != NULL && clr_page_set_next(leaves, 0) != 0) {
        if (clr_field_is_evaluated(&(*link)->field) && !add_unvalued(*link, leaves))
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

/* Drops the columns and the layout: the image is of that version from now on. */
static void empty(struct clr_image *image, uint32_t root, const struct clr_database_version *token)
{
    clr_image_drop(image, false, 0);
    clr_layout_free(&image->layout);
    image->root = root;
    image->token = *token;
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
        rc = clr_derived_renew(request);
    if (request->is_filled)
        clr_row_attempts_end(request->image->table);
    if (outcome != CLR_LOAD_DONE && outcome != CLR_LOAD_STOPPED)
        empty(request->image, request->table->root, &request->snapshot.token);
    request->is_stale = outcome != CLR_LOAD_DONE;
    clr_cache_end_load(request->image);
    clr_page_set_free(changes);
    return outcome == CLR_LOAD_STOPPED ? SQLITE_INTERRUPT : rc;
}

/* ---- Loading columns from pages. */

int clr_column_request_read(struct clr_column_request *request, enum clr_load_outcome outcome,
                            const struct clr_field *fields, const struct clr_load_report *report,
                            const struct clr_status *status)
{
    request->connection->stats.bytes_decoded += report->bytes_read;
    switch (outcome) {
    case CLR_LOAD_DONE:
        break;
    case CLR_LOAD_MANY_VALUES:
        clr_column_request_has_many_values(request, &fields[report->field]);
        break;
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
    int rc;

    clr_column_request_lacking(request, false, &load);
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
    if (lacks_text(outcome, &load, report.field)) {
        request->connection->stats.bytes_decoded += report.bytes_read;
        request->deriving->has_no_patterns = true;
        return SQLITE_OK;
    }
    if (outcome == CLR_LOAD_TOO_LARGE && needs_bytes(request->query))
        clr_backoff_failed(request->keeping, CLR_BACKOFF_MOST);
    rc = clr_column_request_read(request, outcome, load.fields, &report, &status);
    if (outcome != CLR_LOAD_DONE)
        return rc;
    atomic_store(&image->table->rows, image->layout.rows);
    request->reading =
        (struct clr_reading){.kind = request->is_stale ? CLR_READ_CHANGED : CLR_READ_ABSENT,
                             .amount = report.bytes_read};
    return clr_column_request_keep(request, &load);
}

/* For a table that is busy: brings the columns that the image lacks, where there are pages. */
static int read_pages(struct clr_column_request *request)
{
    const bool has_no_patterns = request->deriving->has_no_patterns;
    struct clr_new_columns derived;
    bool derives;
    int rc = clr_derived_renew(request);

    if (rc != SQLITE_OK)
        return rc;
    clr_column_request_lacking(request, true, &derived);
    derives = derived.count > 0;
    if (derives && !clr_derived_are_due(request))
        return SQLITE_OK;
    rc = load_columns(request);
    if (request->deriving->has_no_patterns != has_no_patterns)
        return read_pages(request);
    if (derives && rc == SQLITE_OK && request->reason.code == CLR_WHY_NONE &&
        request->no_pages == CLR_WHY_NONE && request->image->layout.known && !request->is_too_large)
        rc = clr_derived_make(request);
    return rc;
}

/* ---- All. */

/* Within a transaction for rows: the reason says if a column can't be filled by SQLite any more, as
   functions may have been replaced. */
static void check_filled(struct clr_column_request *request)
{
    const struct clr_table_info *table = request->table;
    struct clr_column_code code;
    int i;

    for (i = 0; i < request->query->column_count && request->reason.code == CLR_WHY_NONE; i++) {
        const struct clr_column_info *info = &table->columns[request->query->columns[i].number];

        if (!info->loadable ||
            (info->has_calls &&
             (clr_column_code_read(request->connection->db, table->schema, table->name, info->name,
                                   NULL, &code) != SQLITE_OK ||
              !code.is_settled)))
            clr_reason_set(&request->reason, CLR_WHY_OTHER_ROWS);
    }
}

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
        rc = clr_snapshot_begin(request->database, &request->snapshot, &why);
        request->decoded = request->connection->stats.bytes_decoded;
    }
    if (why != CLR_WHY_NONE)
        refuse_version(request, why);
    if (rc == SQLITE_OK && why == CLR_WHY_NONE)
        rc = check_names(request);
    if (rc == SQLITE_OK && why == CLR_WHY_NONE && !request->is_outdated &&
        request->reason.code == CLR_WHY_NONE) {
        if (request->is_filled)
            check_filled(request);
        else
            rc = clr_derived_check(request);
    }
    if (rc != SQLITE_OK || why != CLR_WHY_NONE || request->is_outdated ||
        request->reason.code != CLR_WHY_NONE)
        return rc;
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
