#include "view.h"

#include "database.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

/* Prepares a statement of a formatted text. */
static sqlite3_stmt *prepare_text(sqlite3 *db, char *sql)
{
    sqlite3_stmt *statement;

    if (sql == NULL)
        bench_die("no memory");
    statement = bench_prepare(db, sql);
    sqlite3_free(sql);
    return statement;
}

struct bench_view bench_view_make(sqlite3 *db, size_t number, const char *sql, bool parameter)
{
    int id = (int)number;
    struct bench_view view = {.line = ""};
    sqlite3_stmt *create = prepare_text(
        db, sqlite3_mprintf("CREATE VIRTUAL TABLE temp.bench_%d USING clreduce((%s))", id, sql));

    bench_run(create);
    sqlite3_finalize(create);
    view.query =
        prepare_text(db, sqlite3_mprintf("SELECT * FROM bench_%d%s", id, parameter ? "(?1)" : ""));
    view.plan =
        prepare_text(db, sqlite3_mprintf("SELECT line FROM clreduce_plan('bench_%d') LIMIT 1", id));
    return view;
}

void bench_view_close(struct bench_view *view)
{
    sqlite3_finalize(view->query);
    sqlite3_finalize(view->plan);
}

void bench_view_read_plan(struct bench_view *view)
{
    view->line[0] = '\0';
    if (sqlite3_step(view->plan) == SQLITE_ROW)
        snprintf(view->line, sizeof view->line, "%s",
                 (const char *)sqlite3_column_text(view->plan, 0));
    sqlite3_reset(view->plan);
}

bool bench_view_plan_begins(struct bench_view *view, const char *words)
{
    bench_view_read_plan(view);
    return strncmp(view->line, words, strlen(words)) == 0;
}

char *bench_row_of(sqlite3_stmt *query)
{
    char *text;

    if (sqlite3_step(query) != SQLITE_ROW)
        bench_die("%s: %s", sqlite3_sql(query), sqlite3_errmsg(sqlite3_db_handle(query)));
    text = bench_row_text(query);
    bench_run(query);
    return text;
}
