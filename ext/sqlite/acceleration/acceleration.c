#include "sqlite/acceleration/acceleration.h"

#include "base/clock.h"
#include "base/float_environment.h"
#include "engine/worker/thread.h"
#include "query/query_run.h"
#include "sqlite/acceleration/kept_rows.h"
#include "sqlite/acceleration/select.h"
#include "sqlite/session/sql_value.h"

#include <stdbool.h>
#include <string.h>

/* ---- The plan. */

/* How often a SELECT is planned for one query, while the schema changes. */
enum { MOST_PLANS = 3 };

static void forget_pauses(struct clr_acceleration *acceleration)
{
    acceleration->looking = acceleration->keeping = (struct clr_backoff){.pause = 0};
}

static void drop_plan(struct clr_acceleration *acceleration)
{
    int i;

    for (i = 0; i < CLR_MOST_LOOKUPS; i++)
        clr_lookup_memo_free(&acceleration->memos[i]);
    clr_finisher_drop(&acceleration->finisher);
    clr_few_rows_drop(&acceleration->few);
    clr_plan_free(acceleration->plan);
    acceleration->plan = NULL;
    acceleration->is_outdated = false;
    forget_pauses(acceleration);
}

/* Whether a reason why there is no plan may be believed for a while. */
static bool is_lasting(enum clr_reason_code why, const struct clr_select *select)
{
    return why != CLR_WHY_NONE && why != CLR_WHY_NO_TRANSACTION && why != CLR_WHY_SCHEMA_LOCKED &&
           (why != CLR_WHY_NO_TABLE || select->view_name == NULL);
}

/* Makes the plan anew. Returns SQLITE_OK or SQLITE_NOMEM: see clr_plan_make(). */
static int make_plan(struct clr_acceleration *acceleration)
{
    struct clr_last_run *last = &acceleration->last;
    int rc;

    drop_plan(acceleration);
    memset(last, 0, sizeof *last);
    acceleration->limits = clr_limits_read(acceleration->connection->db);
    rc = clr_plan_make(acceleration->connection, acceleration->select, &acceleration->varied,
                       &acceleration->plan, &last->reason);
    if (rc == SQLITE_OK && is_lasting(last->reason.code, acceleration->select))
        clr_backoff_failed(&acceleration->looking, CLR_BACKOFF_MOST);
    if (acceleration->plan != NULL)
        acceleration->no_pages = acceleration->plan->no_pages;
    else
        acceleration->varied.count = 0;
    return rc;
}

/* Whether there is nothing to go by: no plan, nor a reason why there is none. */
static bool is_unplanned(const struct clr_acceleration *acceleration)
{
    return acceleration->plan == NULL && acceleration->looking.left == 0;
}

struct clr_acceleration *clr_acceleration_new(struct clr_connection *connection,
                                              const struct clr_select *select)
{
    struct clr_acceleration *acceleration = sqlite3_malloc(sizeof *acceleration);

    if (acceleration == NULL)
        return NULL;
    memset(acceleration, 0, sizeof *acceleration);
    acceleration->connection = connection;
    acceleration->interruption.db = connection->db;
    acceleration->select = select;
    if (make_plan(acceleration) == SQLITE_OK)
        return acceleration;
    clr_acceleration_free(acceleration);
    return NULL;
}

void clr_acceleration_free(struct clr_acceleration *acceleration)
{
    if (acceleration == NULL)
        return;
    drop_plan(acceleration);
    clr_interruption_end(&acceleration->interruption);
    sqlite3_free(acceleration);
}

void clr_acceleration_plan(struct clr_acceleration *acceleration)
{
    if (is_unplanned(acceleration))
        make_plan(acceleration);
}

/* ---- A run. */

static struct clr_scalar read_parameter(void *context, int number)
{
    sqlite3_value *value = ((sqlite3_value *const *)context)[number - 1];

    return value == NULL ? (struct clr_scalar){CLR_TAG_NULL, 0} : clr_scalar_of(value);
}

/* Whether SQLite computes nothing in the SELECT but the result row, or if it does so in the default
   floating-point environment, as scans do. */
static bool suits_environment(const struct clr_plan *plan,
                              const struct clr_float_environment *environment)
{
    bool computes = plan->query->computes;
    int i;

    if (clr_float_environment_is_default(environment))
        return true;
    for (i = 0; i < plan->query->column_count; i++)
        computes = computes || !plan->table.columns[plan->query->columns[i]].readable;
    return !computes;
}

/* Begins a run of the plan. Without its query_run the request's reason says why there is none. */
static int begin_run(struct clr_acceleration *acceleration, const struct clr_watch *watch,
                     sqlite3_value *const *parameters, struct clr_view_run *run)
{
    struct clr_kept_rows *const kept = run->kept;
    struct clr_lookup *const lookups = run->lookups;
    struct clr_connection *connection = acceleration->connection;
    const struct clr_parameters values = {(void *)parameters, read_parameter};
    const struct clr_budget *budget = &connection->values;
    struct clr_plan *plan = acceleration->plan;

    *run = (struct clr_view_run){.watch = watch,
                                 .plan = plan,
                                 .kept = kept,
                                 .parameters = parameters,
                                 .memos = acceleration->memos,
                                 .lookups = lookups,
                                 .parameter_count = acceleration->select->parameter_count,
                                 .request = {.connection = connection,
                                             .database = plan->database,
                                             .table = &plan->table,
                                             .names = &plan->names,
                                             .query = plan->query,
                                             .watch = watch,
                                             .keeping = &acceleration->keeping,
                                             .no_pages = acceleration->no_pages},
                                 .way = CLR_WAY_SQLITE};
    if (clr_query_run_begin(plan->query, &values, &run->query_run, &run->request.reason) ==
        CLR_NOMEM)
        return SQLITE_NOMEM;
    if (run->query_run == NULL)
        return SQLITE_OK;
    run->scan = clr_query_run_scan(run->query_run);
    run->scan.values_memory = budget->used < budget->limit ? budget->limit - budget->used : 0;
    run->scan.longest = (size_t)sqlite3_limit(connection->db, SQLITE_LIMIT_LENGTH, -1);
    return SQLITE_OK;
}

static void end_run(struct clr_view_run *run)
{
    clr_query_run_free(run->query_run);
    clr_groups_free(run->groups);
    clr_run_release_columns(run);
    run->query_run = NULL;
    run->groups = NULL;
}

/* Takes note of how the run went, for the next one and for the user. */
static void learn(struct clr_acceleration *acceleration, const struct clr_view_run *run)
{
    const struct clr_plan *plan = acceleration->plan;
    const enum clr_reason_code why = run->request.reason.code;

    if (run->request.no_pages == CLR_WHY_OLDER_ROWS)
        acceleration->no_pages = run->request.no_pages;
    if (why == CLR_WHY_SMALL_TABLE || why == CLR_WHY_KEEPS_VALUES || why == CLR_WHY_KEEPS_CODES ||
        why == CLR_WHY_MANY_VALUES || why == CLR_WHY_MANY_ROWS ||
        (why == CLR_WHY_VALUES_MEMORY && run->request.is_too_large))
        clr_backoff_failed(&acceleration->looking, CLR_BACKOFF_MOST);
    /* The database could not even be read: it may be gone, as may be what the names meant. */
    if (run->way == CLR_WAY_SQLITE && plan->generation != plan->database->generation)
        acceleration->is_outdated = true;
    acceleration->last = (struct clr_last_run){.was_asked = true,
                                               .way = run->way,
                                               .device = run->device,
                                               .device_count = run->device_count,
                                               .is_filled = run->request.no_pages != CLR_WHY_NONE,
                                               .reading = run->request.reading,
                                               .reason = run->request.reason};
}

/* Has SQLite run the SELECT as long as that is quicker than a scan, in the caller's environment. */
static int answer_few(struct clr_acceleration *acceleration,
                      const struct clr_float_environment *environment, struct clr_view_run *run)
{
    int rc;

    clr_float_environment_end(environment);
    rc = clr_few_rows_answer(&acceleration->few, acceleration->connection, acceleration->select,
                             acceleration->plan, run->parameters, run->kept, &run->is_kept,
                             &run->request.reason);
    clr_float_environment_begin();
    return rc;
}

/* Runs the plan. environment: in which SQLite would run the SELECT. */
static int run_plan(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                    const struct clr_float_environment *environment, struct clr_view_run *run)
{
    const struct clr_watch watch = {clr_interruption_is_wanted, &acceleration->interruption};
    int64_t start;
    int rc = begin_run(acceleration, &watch, parameters, run);

    if (rc == SQLITE_OK && run->query_run != NULL)
        rc = answer_few(acceleration, environment, run);
    if (rc != SQLITE_OK)
        return rc;
    if (!suits_environment(acceleration->plan, environment))
        clr_reason_set(&run->request.reason, CLR_WHY_FLOAT_ENVIRONMENT);
    start = clr_clock_ns();
    if (clr_ways_take(run) == CLR_ERROR)
        return run->rc;
    if (run->request.reading.kind == CLR_READ_RESIDENT ||
        run->request.reading.kind == CLR_READ_STREAMED)
        acceleration->few.scan_ns = clr_clock_ns() - start;
    learn(acceleration, run);
    return SQLITE_OK;
}

/*
 * Takes note of a column with too many different values, if there may be a plan without lookups
 * over it. Returns whether to plan anew.
 */
static bool avoid_column(struct clr_acceleration *acceleration, const struct clr_view_run *run)
{
    struct clr_varied_columns *varied = &acceleration->varied;
    const struct clr_reason *reason = &run->request.reason;
    int number, i;

    if (reason->code != CLR_WHY_MANY_VALUES || !acceleration->plan->query->may_find_rows)
        return false;
    number = clr_table_info_find(&acceleration->plan->table, reason->name);
    for (i = 0; i < varied->count && varied->numbers[i] != number; i++)
        ;
    if (number < 0 || i < varied->count || varied->count == CLR_MOST_COLUMNS)
        return false;
    varied->numbers[varied->count++] = number;
    return true;
}

/* Plans if need be, and runs the plan, if there is one that is current. */
static int run_tallies(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                       const struct clr_float_environment *environment, struct clr_view_run *run)
{
    const struct clr_limits limits = clr_limits_read(acceleration->connection->db);
    int rc = SQLITE_OK, i;

    /* By other limits the SELECT may be an error, or be none. */
    if (!clr_limits_equal(&limits, &acceleration->limits))
        acceleration->is_outdated = true;
    if (acceleration->settings_changes != acceleration->connection->settings_changes &&
        acceleration->plan != NULL)
        forget_pauses(acceleration);
    acceleration->settings_changes = acceleration->connection->settings_changes;
    for (i = 0; i < MOST_PLANS && rc == SQLITE_OK; i++) {
        if (acceleration->is_outdated)
            acceleration->varied.count = 0;
        if (is_unplanned(acceleration) || acceleration->is_outdated || i > 0)
            rc = make_plan(acceleration);
        acceleration->last.reading = (struct clr_reading){.kind = CLR_READ_NOTHING};
        if (rc != SQLITE_OK || clr_backoff_skips(&acceleration->looking) ||
            acceleration->plan == NULL)
            return rc;
        end_run(run);
        rc = run_plan(acceleration, parameters, environment, run);
        if (!run->request.is_outdated &&
            (rc != SQLITE_OK || i + 1 == MOST_PLANS || !avoid_column(acceleration, run)))
            return rc;
    }
    clr_reason_set(&acceleration->last.reason, CLR_WHY_SCHEMA_CHANGES);
    return rc;
}

/* Makes what is to be given to the user of a run whose tallies are complete. */
static int make_answer(struct clr_acceleration *acceleration, const struct clr_view_run *run,
                       const struct clr_float_environment *environment, struct clr_answer *answer)
{
    const struct clr_watch watch = {clr_interruption_is_wanted, &acceleration->interruption};
    const struct clr_finish_input input = {.db = acceleration->connection->db,
                                           .select = acceleration->select,
                                           .run = run->query_run,
                                           .groups = run->groups,
                                           .parameters = run->parameters,
                                           .memory = run->scan.values_memory,
                                           .watch = &watch,
                                           .environment = environment};

    return clr_answer_make(&input, &acceleration->finisher, answer, &acceleration->last.reason);
}

static int run(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
               struct clr_kept_rows *rows, struct clr_answer *answer, bool *answered)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    struct clr_lookup lookups[CLR_MOST_LOOKUPS];
    struct clr_view_run run = {.lookups = lookups, .kept = rows, .way = CLR_WAY_SQLITE};
    struct clr_last_run *last = &acceleration->last;
    int rc = run_tallies(acceleration, parameters, &before, &run);

    clr_float_environment_end(&before);
    *answered = rc == SQLITE_OK && run.way != CLR_WAY_SQLITE;
    if (*answered) {
        rc = make_answer(acceleration, &run, &before, answer);
        *answered = last->reason.code == CLR_WHY_NONE;
    }
    if (rc == SQLITE_OK && !*answered) {
        last->way = CLR_WAY_SQLITE;
        acceleration->connection->stats.selects_by_rows++;
        *answered = run.is_kept;
    }
    end_run(&run);
    return rc;
}

int clr_acceleration_run(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                         struct clr_kept_rows *rows, struct clr_answer *answer, bool *answered)
{
    int rc, state;

    *answered = false;
    if (acceleration->is_running)
        return SQLITE_OK;
    acceleration->is_running = true;
    /* Others wait for the table that this thread has made busy, and its helpers use its stack. */
    state = clr_thread_defer_cancel();
    rc = run(acceleration, parameters, rows, answer, answered);
    clr_thread_restore_cancel(state);
    acceleration->is_running = false;
    return rc;
}
