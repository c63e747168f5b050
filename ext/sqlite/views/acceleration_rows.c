#include "sqlite/columns/row_version.h"
#include "sqlite/schema/column_code.h"
#include "sqlite/views/acceleration_private.h"

#include <string.h>

/*
 * When columns are filled. That takes about as long as the SELECT itself and serves only as long as
 * the database is the same: so the SELECT is run at first, and the columns are filled when it, or
 * another query of these columns, is asked again. Where columns that were filled went before they
 * served any other query, more askings are waited for the next time, twice as many each time.
 */
enum { MOST_PATIENCE = 256 };

/* Returns why the columns could not be filled for this version, or NULL. A query that does not lack
   all that was lacking then may have better luck. */
static const char *find_refusal(const struct clr_acceleration *acceleration,
                                const struct clr_image *image, uint64_t lacking)
{
    const struct clr_attempts *attempts = &image->attempts;

    if (attempts->settings != acceleration->connection->settings_changes ||
        (attempts->refused & ~lacking) != 0)
        return NULL;
    return attempts->refusal;
}

/* Whether all columns can still be filled by SQLite: functions may have been replaced. */
static bool are_loadable(const struct clr_acceleration *acceleration)
{
    const struct clr_table_info *table = &acceleration->table;
    struct clr_column_code code;
    int i;

    for (i = 0; i < acceleration->query->column_count; i++) {
        const struct clr_column_info *info = clr_acceleration_column(acceleration, i);
        if (!info->loadable)
            return false;
        if (info->has_calls && (clr_column_code_read(acceleration->connection->db, table->schema,
                                                     table->name, info->name, &code) != SQLITE_OK ||
                                !code.is_settled))
            return false;
    }
    return true;
}

/* Learns how long the columns served that are gone. */
static void end_attempts(struct clr_image *image)
{
    if (image->attempts.served)
        image->patience = 1;
    else if (image->attempts.loaded != 0 && image->patience < MOST_PATIENCE)
        image->patience *= 2;
    memset(&image->attempts, 0, sizeof image->attempts);
}

/* Whether the query lacks columns; *lacking has their bits. */
static bool lacks_columns(const struct clr_acceleration *acceleration, struct clr_image *image,
                          uint64_t *lacking)
{
    int i;

    *lacking = 0;
    for (i = 0; i < acceleration->query->column_count; i++) {
        const struct clr_field field = clr_acceleration_field(acceleration, image, i);
        if (clr_image_find(image, &field) == NULL)
            *lacking |= clr_image_bit(&field);
    }
    return *lacking != 0 || !image->layout.known;
}

/* Takes note of a query that lacks columns. Returns whether they are to be filled now. */
static bool are_due(struct clr_image *image, uint64_t lacking)
{
    struct clr_attempts *attempts = &image->attempts;
    bool due;

    if ((attempts->loaded & lacking) != 0) /* they had to make room for others */
        end_attempts(image);
    due = attempts->asks >= image->patience && (lacking & ~attempts->asked) == 0;
    attempts->asked |= lacking;
    attempts->asks++;
    return due;
}

/* Fills the columns. SQLITE_ROW: the image has them. */
static int load(struct clr_acceleration *acceleration, struct clr_image *image, uint64_t lacking,
                const char *why)
{
    int rc = clr_acceleration_fill(acceleration, image, why);

    if (rc != SQLITE_TOOBIG && rc != SQLITE_ERROR)
        return rc;
    image->attempts.refusal =
        rc == SQLITE_TOOBIG
            ? "the columns take more than column_memory, and the table's pages cannot stream"
            : "SQLite found an error when it filled the columns";
    image->attempts.refused = lacking;
    image->attempts.settings = acceleration->connection->settings_changes;
    return clr_acceleration_by_rows(acceleration, "%s", image->attempts.refusal);
}

/* Says why SQLite runs the SELECT this time. */
static int say_when(struct clr_acceleration *acceleration, const struct clr_image *image,
                    const char *why)
{
    const int more = image->patience - image->attempts.asks;

    if (more <= 0)
        return clr_acceleration_by_rows(acceleration, "%s; will be kept when asked again", why);
    return clr_acceleration_by_rows(acceleration,
                                    "%s; will be kept when asked %d times more, as the database "
                                    "changes often",
                                    why, more + 1);
}

/* With the version of the database. */
static int use_version(struct clr_acceleration *acceleration, const struct clr_token *token,
                       const char *why)
{
    struct clr_connection *connection = acceleration->connection;
    struct clr_image *image;
    const char *refusal;
    uint64_t lacking;
    bool stale;
    int rc;

    rc = clr_acceleration_check_names(acceleration);
    if (rc != SQLITE_ROW)
        return rc;
    if (!are_loadable(acceleration))
        return clr_acceleration_by_rows(acceleration,
                                        "a column's value may follow from more than its row");
    image = clr_image_get(connection, acceleration->database, acceleration->table.name, true,
                          acceleration->table.root, token, &stale);
    if (image == NULL)
        return SQLITE_NOMEM;
    if (stale) {
        end_attempts(image);
        clr_image_empty(image, acceleration->table.root, token);
    }
    if (!lacks_columns(acceleration, image, &lacking)) {
        image->attempts.served = true;
        sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->reading,
                         "0 rows: all columns are resident, filled through SQLite, since %s", why);
        rc = clr_acceleration_check_rows(acceleration, image->layout.rows);
    } else if ((refusal = find_refusal(acceleration, image, lacking)) != NULL) {
        return clr_acceleration_by_rows(acceleration, "%s", refusal);
    } else if (!are_due(image, lacking)) {
        return say_when(acceleration, image, why);
    } else {
        rc = load(acceleration, image, lacking, why);
    }
    return rc == SQLITE_ROW ? clr_acceleration_scan(acceleration, image) : rc;
}

int clr_acceleration_run_rows(struct clr_acceleration *acceleration, const char *why)
{
    struct clr_token token;
    const char *reason;
    int rc = clr_row_version_begin(acceleration->database, &token, &reason);

    acceleration->by_rows = true;
    if (rc == SQLITE_ERROR)
        rc = clr_acceleration_by_rows(acceleration, "%s", reason);
    else if (rc == SQLITE_OK)
        rc = use_version(acceleration, &token, why);
    clr_database_release(acceleration->database);
    return rc;
}
