#include "sqlite/access/gate.h"

#include "clreduce.h"
#include "numeric/values/bytes.h"
#include "sqlite/access/forecast.h"
#include "sqlite/access/past_runs.h"
#include "sqlite/access/rewrite.h"
#include "sqlite/api.h"
#include "sqlite/database/snapshot.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/schema/select_columns.h"
#include "sqlite/session/connection.h"
#include "sqlite/session/statement.h"
#include "sqlite/view/module.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The first run of a statement that computes something is looked at after so long, which is much to
   what a look takes, and little to what the rest has to take to be begun anew. */
enum { PATIENCE_NS = 1000000 };

/* ---- Accelerated statements, which a connection keeps for the next statement of the same text. */

struct companion {
    struct companion *next;
    char *sql;
    sqlite3_stmt *statement;
    bool is_taken;
};

/* Those that wait. Each keeps an accelerated view. */
enum { MOST_WAITING = 16 };

struct companions {
    struct clr_attachment attachment;
    struct companion *first; /* the one that was used last is the first */
    bool has_age;            /* of clr_age_read() */
};

static void free_companion(struct companion *companion)
{
    sqlite3_finalize(companion->statement);
    sqlite3_free(companion->sql);
    sqlite3_free(companion);
}

/* Frees those that wait beyond so many. */
static void free_waiting(struct companions *companions, int most)
{
    struct companion **link = &companions->first, *companion;

    while ((companion = *link) != NULL) {
        if (companion->is_taken || most-- > 0) {
            link = &companion->next;
        } else {
            *link = companion->next;
            free_companion(companion);
        }
    }
}

/* Frees all that waits. */
static void free_companions(struct clr_connection *connection, void *companions)
{
    free_waiting(companions, 0);
    clr_age_release(connection, &((struct companions *)companions)->has_age);
}

static const struct clr_attachment_kind companions_kind = {sizeof(struct companions),
                                                           free_companions};

/* Returns the connection's age, or 0. */
static uint64_t read_age(struct clr_connection *connection)
{
    struct companions *companions = clr_connection_attach(connection, &companions_kind);

    return companions == NULL ? 0 : clr_age_read(connection, &companions->has_age);
}

/* Returns those of a connection, or NULL. */
static struct companions *companions_of(sqlite3 *db)
{
    const struct clr_connection *connection = clr_connection_of(db);

    return connection == NULL ? NULL : clr_connection_find(connection, &companions_kind);
}

/* Adds a statement, which is taken; sql: the text that it serves, or NULL. Returns NULL without
   memory: then the statement is finalized. */
static struct companion *add_companion(struct companions *companions, const char *sql,
                                       sqlite3_stmt *statement)
{
    struct companion *companion = sqlite3_malloc(sizeof *companion);

    if (companion == NULL) {
        sqlite3_finalize(statement);
        return NULL;
    }
    *companion = (struct companion){.next = companions->first,
                                    .sql = sql == NULL ? NULL : sqlite3_mprintf("%s", sql),
                                    .statement = statement,
                                    .is_taken = true};
    if (sql != NULL && companion->sql == NULL) {
        free_companion(companion);
        return NULL;
    }
    companions->first = companion;
    return companion;
}

/* Gives one back, or for good if it can't serve any more. */
static void give_companion(struct clr_connection *connection, struct companion *companion,
                           bool can_serve)
{
    struct companions *companions = clr_connection_find(connection, &companions_kind);

    CLR_UNLINK(companions->first, companion);
    if (!can_serve) {
        free_companion(companion);
        return;
    }
    companion->is_taken = false;
    companion->next = companions->first;
    companions->first = companion;
    free_waiting(companions, MOST_WAITING);
}

/* Whether it is the time to make a statement, when the given one, if any, does not run: amid
   another one, or a transaction, which snapshot of a write-ahead log its view would read is not
   known. */
static bool may_make(sqlite3 *db, const sqlite3_stmt *without)
{
    sqlite3_stmt *statement = NULL;

    if (!sqlite3_get_autocommit(db))
        return false;
    while ((statement = sqlite3_next_stmt(db, statement)) != NULL) {
        if (statement != without && sqlite3_stmt_busy(statement))
            return false;
    }
    return true;
}

/* Whether a SELECT reads main alone: views of modules of their own are main's to SQLite, which
   locks main for them. What reads main may write to temp. */
static bool reads_main_alone(sqlite3 *db, const char *sql, bool writes)
{
    struct clr_databases_read read;

    return clr_bytecode_databases(db, &read, "%s", sql) == SQLITE_OK && read.last <= (int)writes &&
           (!writes || read.has_main);
}

/* Makes one for a statement. NULL: it can't be, with the reason, which may be NULL. */
static struct companion *make_companion(struct clr_connection *connection,
                                        struct companions *companions, sqlite3_stmt *plain,
                                        char **reason)
{
    const char *sql = sqlite3_sql(plain);
    sqlite3_stmt *accelerated;

    if (!reads_main_alone(connection->db, sql, !sqlite3_stmt_readonly(plain))) {
        *reason = sqlite3_mprintf("it reads another database than main");
        return NULL;
    }
    if (clr_accelerated_prepare(connection, plain, SQLITE_PREPARE_PERSISTENT, &accelerated,
                                reason) != SQLITE_OK)
        return NULL;
    return add_companion(companions, sql, accelerated);
}

/* ---- Watched statements. */

struct clreduce_watched {
    struct clr_connection *connection;
    sqlite3_stmt *plain;
    struct clr_past past;
    int explains;       /* as sqlite3_stmt_isexplain(): the past is that of what is explained */
    bool computes;      /* its text has a call, or DISTINCT or GROUP BY */
    bool has_several;   /* SELECTs */
    bool writes;        /* it is no SELECT, and has one */
    int was_autocommit; /* before the companion's run, as sqlite3_get_autocommit() */
    int64_t long_rows;  /* of the table, about, if the next run is sure to take long; else 0 */
    /* By which age of the connection the plain statement is right, and will be once SQLite has run
       it. */
    uint64_t age, next_age;
    struct companion *companion;                /* NULL: none is taken */
    int64_t selects_by_rows, selects_postponed; /* of the connection, before the run */
    int64_t scans;                              /* likewise */
    bool is_loaded;                             /* a run of the companion has ended */
};

/* Whether SQLite is going to prepare the plain statement again, maybe for another reason than its
   parameters: the application then has to see what it is by then, its columns' names among it. */
static bool has_aged(struct clreduce_watched *watched)
{
    if (!clr_statement_is_outdated(watched->plain))
        return false;
    if (watched->age == 0)
        return true;
    watched->next_age = read_age(watched->connection);
    return watched->next_age != watched->age;
}

/* Returns how many milliseconds SQLite waits for a lock, by sqlite3_busy_timeout(). 0: not at all,
   or as long as a handler of the application's says. */
static int read_busy_timeout(sqlite3 *db)
{
    sqlite3_stmt *statement;
    int timeout = 0;

    if (clr_statement_make(db, "PRAGMA busy_timeout", 0, &statement) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        timeout = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return timeout;
}

/* Makes a companion, if the schema is still the statement's, and stays so meanwhile: a statement
   that is outdated afterwards has been expired by an older view that went for this one. Where a
   lock is in the way, the plain statement is to be the one that waits. NULL: it can't be made, with
   the reason; or without one if it is only not the time to make it. */
static struct companion *make_by_schema(struct clreduce_watched *watched,
                                        struct companions *companions, bool *is_refused,
                                        char **reason)
{
    sqlite3 *db = watched->connection->db;
    const int timeout = read_busy_timeout(db);
    struct companion *companion = NULL;
    sqlite3_stmt *hold;
    int rc;

    if (timeout > 0)
        sqlite3_busy_timeout(db, 0);
    rc = clr_schema_renew(watched->connection, sqlite3_sql(watched->plain), &hold);
    if (rc == SQLITE_OK && !has_aged(watched) && clr_has_columns_of_now(watched->plain)) {
        companion = make_companion(watched->connection, companions, watched->plain, reason);
        *is_refused = companion == NULL;
    }
    sqlite3_finalize(hold);
    if (timeout > 0)
        sqlite3_busy_timeout(db, timeout);
    return companion;
}

/* Returns one for the statement; NULL: there is none, with the reason, or without one if it is only
   not the time to make it. */
static struct companion *take_companion(struct clreduce_watched *watched, bool *is_refused,
                                        char **reason)
{
    struct clr_connection *connection = watched->connection;
    struct companions *companions = clr_connection_attach(connection, &companions_kind);
    const char *sql = sqlite3_sql(watched->plain);
    struct companion *companion = companions == NULL ? NULL : companions->first;

    *reason = NULL;
    *is_refused = false;
    while (companion != NULL &&
           (companion->is_taken || companion->sql == NULL ||
            clr_statement_is_outdated(companion->statement) || strcmp(companion->sql, sql) != 0))
        companion = companion->next;
    if (companion == NULL && companions != NULL && may_make(connection->db, NULL)) {
        companion = make_by_schema(watched, companions, is_refused, reason);
    } else if (companion != NULL &&
               !clr_have_equal_columns(companion->statement, watched->plain, sqlite3_column_name)) {
        /* One of the two is of a schema that is over. */
        give_companion(connection, companion, false);
        companion = NULL;
    } else if (companion != NULL) {
        companion->is_taken = true;
    }
    return companion;
}

/* Ends the use of the companion. */
static void let_go(struct clreduce_watched *watched, bool can_serve)
{
    if (watched->companion != NULL)
        give_companion(watched->connection, watched->companion, can_serve);
    watched->companion = NULL;
    watched->is_loaded = false;
}

static void unwatch(struct clreduce_watched *watched, struct clreduce_quiet_runs ended)
{
    clr_past_add_quiet(&watched->past, ended);
    let_go(watched, true);
}

static int64_t count_scans(const struct clr_connection *connection)
{
    return connection->stats.scans_on_device + connection->stats.scans_on_host;
}

/* Takes the companion that is wanted, unless it is there, and takes note of how that went. */
static void take(struct clreduce_watched *watched)
{
    bool is_refused = false;
    char *reason = NULL;

    if (watched->companion == NULL && !clr_schema_may_go(watched->connection->db)) {
        watched->companion = take_companion(watched, &is_refused, &reason);
        /* The schema is still the same: see make_by_schema(). */
        if (watched->companion != NULL && clr_statement_is_outdated(watched->plain))
            watched->age = watched->next_age = read_age(watched->connection);
    }
    if (is_refused || watched->companion != NULL)
        clr_past_choose(&watched->past, sqlite3_sql(watched->plain), is_refused, reason);
}

/*
 * Looks at a statement that writes before its first run. A run of its own that has begun can't be
 * stopped, as it may have written something; and a program may begin a transaction in between, in
 * which no companion can be made.
 */
static void look_early(struct clreduce_watched *watched)
{
    struct clr_connection *connection = watched->connection;
    bool is_known, is_accelerated;
    bool wanted = clr_past_look(&watched->past, &is_known, &is_accelerated) ||
                  connection->settings.view_threshold == 0;

    if (!wanted && !is_known)
        wanted = (watched->long_rows = clr_long_scan_rows(connection, sqlite3_sql(watched->plain),
                                                          true, watched->has_several, 0, 0)) > 0;
    if (wanted)
        take(watched);
    if (watched->companion == NULL)
        watched->long_rows = 0;
    /* As SQLite left it. */
    sqlite3_exec(connection->db, "", NULL, NULL, NULL);
}

/* Returns a hash of the name of main's file: which statements are one is a guess. */
static uint64_t hash_file(struct clr_connection *connection)
{
    const char *name = sqlite3_db_filename(connection->db, "main");
    struct clr_value text = {.kind = CLR_KIND_TEXT, .bytes = name};

    if (connection->file == 0) {
        text.as.size = name == NULL ? 0 : strlen(name);
        connection->file = clr_bytes_hash(&text, 1);
    }
    return connection->file;
}

static int watch(struct clreduce_watched *watched, sqlite3_stmt *plain, int unseen)
{
    sqlite3 *db = sqlite3_db_handle(plain);
    const bool writes = !sqlite3_stmt_readonly(plain),
               explains = sqlite3_stmt_isexplain(plain) != 0;
    struct clr_connection *connection;
    struct clr_statement_text text;

    if (!clr_statement_text_read(sqlite3_sql(plain), &text) ||
        (writes && !explains) == (sqlite3_column_count(plain) > 0))
        return false;
    connection = clr_connection_of(db);
    if (connection == NULL)
        return false;
    connection->prepared++;
    /* The same text means another statement in another database. */
    *watched = (struct clreduce_watched){.connection = connection,
                                         .plain = plain,
                                         .past.key = text.fingerprint ^ hash_file(connection),
                                         .explains = sqlite3_stmt_isexplain(plain),
                                         .computes = text.computes,
                                         .has_several = text.selects > 1,
                                         .writes = writes,
                                         .age = text.matches ? read_age(connection) : 0};
    watched->next_age = watched->age;
    if (writes && !explains && unseen && may_make(db, NULL))
        look_early(watched);
    return true;
}

/* Prepares the statement that says what the accelerated one of a text will do, in the columns of
   SQLite's own EXPLAIN. NULL: there is none. */
static sqlite3_stmt *prepare_explanation(struct clr_connection *connection, const char *sql,
                                         sqlite3_stmt *explain)
{
    sqlite3_stmt *plain = NULL, *accelerated = NULL, *result = NULL;
    char *message = NULL, *text = NULL;

    if (reads_main_alone(connection->db, sql, !sqlite3_stmt_readonly(explain)) &&
        clr_statement_make(connection->db, sql, 0, &plain) == SQLITE_OK &&
        clr_accelerated_prepare(connection, plain, 0, &accelerated, &message) == SQLITE_OK) {
        if (sqlite3_stmt_isexplain(explain) == 1)
            text = sqlite3_mprintf("EXPLAIN %s", sqlite3_sql(accelerated));
        else
            text = clr_accelerated_explain(connection, accelerated, explain);
    }
    if (text != NULL)
        clr_statement_make(connection->db, text, 0, &result);
    sqlite3_free(text);
    sqlite3_free(message);
    sqlite3_finalize(accelerated);
    sqlite3_finalize(plain);
    return result;
}

/* The same as begin(), of EXPLAIN. What is said is of the moment, and so nothing is kept. */
static sqlite3_stmt *begin_explanation(struct clreduce_watched *watched)
{
    struct clr_connection *connection = watched->connection;
    struct companions *companions = clr_connection_attach(connection, &companions_kind);
    struct clr_statement_text text;
    sqlite3_stmt *explanation;
    bool is_known, is_accelerated;
    bool wanted = (clr_past_look(&watched->past, &is_known, &is_accelerated) && is_accelerated) ||
                  connection->settings.view_threshold == 0;

    clr_statement_text_read(sqlite3_sql(watched->plain), &text);
    if (!wanted && !is_known)
        wanted =
            watched->computes && clr_long_scan_rows(connection, text.statement, watched->writes,
                                                    watched->has_several, 0, 0) > 0;
    if (!wanted || companions == NULL || !may_make(connection->db, NULL))
        return NULL;
    explanation = prepare_explanation(connection, text.statement, watched->plain);
    if (explanation != NULL)
        watched->companion = add_companion(companions, NULL, explanation);
    return watched->companion == NULL ? NULL : explanation;
}

/* A view that is made for a companion is a table of main to SQLite: so the companion's transaction
   begins before the view is asked. Which snapshot a write-ahead log has just before tells which one
   it sees. */
static void prove_snapshot(struct clr_connection *connection)
{
    struct clr_database *database = clr_database_get(connection, "main");
    struct clr_snapshot snapshot;

    if (database == NULL)
        return;
    clr_snapshot_lead(database, &snapshot);
    clr_snapshot_end(database, &snapshot);
}

static sqlite3_stmt *begin(struct clreduce_watched *watched, struct clreduce_quiet_runs ended,
                           sqlite3_int64 *patience, int *quiet)
{
    struct clr_connection *connection = watched->connection;
    sqlite3 *db = connection->db;
    /* Every SELECT goes through its view, for tests: as in a view itself. */
    const bool always = connection->settings.view_threshold == 0;
    const int64_t rows = watched->long_rows;
    bool wanted, is_new;

    *patience = 0;
    *quiet = 0;
    watched->long_rows = 0;
    clr_past_add_quiet(&watched->past, ended);
    /* After sqlite3_deserialize() SQLite must not look for a companion's view again. */
    if (has_aged(watched) || (watched->companion != NULL && clr_schema_may_go(db))) {
        let_go(watched, false);
        return NULL;
    }
    /* sqlite3_stmt_explain() makes another statement of it. */
    if (sqlite3_stmt_isexplain(watched->plain) != watched->explains)
        return NULL;
    if ((watched->writes || !sqlite3_get_autocommit(db)) &&
        sqlite3_txn_state(db, NULL) == SQLITE_TXN_WRITE)
        return NULL;
    if (watched->explains != 0)
        return clr_schema_may_go(db) ? NULL : begin_explanation(watched);
    wanted = clr_past_begin(&watched->past, sqlite3_sql(watched->plain), rows, &is_new, quiet) ||
             always || rows > 0;
    if (wanted) {
        *quiet = 0;
        take(watched);
    } else {
        let_go(watched, true);
    }
    if (is_new && !wanted && watched->computes && !watched->writes)
        *patience = PATIENCE_NS;
    watched->selects_by_rows = connection->stats.selects_by_rows;
    watched->selects_postponed = connection->selects_postponed;
    watched->scans = count_scans(connection);
    if (watched->companion == NULL)
        return NULL;
    /* One that writes sees the newest snapshot, and must find no transaction that it could not have
       waited for. */
    if (!watched->writes || sqlite3_get_autocommit(db))
        prove_snapshot(connection);
    if (watched->writes)
        clr_sole_writer_promise(connection, sqlite3_sql(watched->companion->statement));
    watched->was_autocommit = sqlite3_get_autocommit(db);
    return watched->companion->statement;
}

/* A companion can be made once the plain statement is reset, and no statement that a function or a
   virtual table runs is stopped in its place. Where a virtual table has gone, SQLite expires all
   statements with the next one that it prepares, and one that reads may fail then: so it is begun
   anew, too. */
static int stops(struct clreduce_watched *watched, sqlite3_int64 nanoseconds)
{
    struct clr_connection *connection = watched->connection;
    const int walked = sqlite3_stmt_status(watched->plain, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0);
    const bool was_outdated = clr_statement_is_outdated(watched->plain);

    watched->long_rows =
        walked > 0 && sqlite3_stmt_busy(watched->plain) && may_make(connection->db, watched->plain)
            ? clr_long_scan_rows(connection, sqlite3_sql(watched->plain), false,
                                 watched->has_several, walked, nanoseconds)
            : 0;
    return watched->long_rows > 0 || (!was_outdated && clr_statement_is_outdated(watched->plain));
}

/* A statement that can't be prepared anew has written nothing, or all of it is undone; but where
   the transaction is over, the plain one would run without it. One that has made a table, and met a
   constraint, is outdated, too: the application may have been asked then whether to commit. */
static int is_final(const struct clreduce_watched *watched)
{
    sqlite3_stmt *statement = watched->companion->statement;
    sqlite3 *db = watched->connection->db;

    return watched->writes && sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0) > 0 &&
           (!clr_statement_is_outdated(statement) ||
            (sqlite3_errcode(db) & 0xff) == SQLITE_CONSTRAINT ||
            sqlite3_get_autocommit(db) != watched->was_autocommit);
}

static void failed(struct clreduce_watched *watched)
{
    let_go(watched, false);
    if (watched->writes)
        clr_sole_writer_promise(watched->connection, NULL);
    if (watched->explains == 0)
        clr_past_choose(&watched->past, NULL, true,
                        sqlite3_mprintf("it failed, and SQLite ran it"));
}

static void end(struct clreduce_watched *watched, int accelerated, sqlite3_int64 nanoseconds,
                int complete)
{
    const struct clr_connection *connection = watched->connection;
    const struct clr_past_run run = {
        .nanoseconds = nanoseconds,
        .is_complete = complete,
        .is_accelerated = accelerated,
        /* Of several units some may be scanned. */
        .is_by_rows = connection->stats.selects_by_rows != watched->selects_by_rows &&
                      count_scans(connection) == watched->scans,
        .is_postponed = connection->selects_postponed != watched->selects_postponed,
        .is_loaded = watched->is_loaded,
    };

    if (watched->explains != 0) {
        let_go(watched, false);
        return;
    }
    if (watched->writes)
        clr_sole_writer_promise(watched->connection, NULL);
    if (!accelerated && complete)
        watched->age = watched->next_age;
    watched->is_loaded = watched->is_loaded || accelerated;
    if (clr_past_end(&watched->past, &run) && connection->settings.view_threshold != 0)
        let_go(watched, !run.is_by_rows);
}

static void closing(sqlite3 *db)
{
    struct companions *companions = companions_of(db);

    if (companions == NULL)
        return;
    free_companions(clr_connection_of(db), companions);
    clr_views_end(clr_connection_of(db));
}

__attribute__((visibility("default"))) const struct clreduce_gate *clreduce_gate(void)
{
    static const struct clreduce_gate gate = {sizeof gate,
                                              CLREDUCE_VERSION,
                                              sizeof(struct clreduce_watched),
                                              watch,
                                              begin,
                                              stops,
                                              is_final,
                                              failed,
                                              end,
                                              unwatch,
                                              closing,
                                              clr_past_runs_tell};

    clr_past_runs_touch();
    return &gate;
}
