/*
 * An application with clreduce built in: every connection that it opens has the functions, and
 * nothing is loaded at run time.
 *
 *     cc embed.c -o embed $(pkg-config --cflags --libs clreduce sqlite3)
 *
 * Prints four results, and exits with 0 if they are right.
 */
#include <clreduce.h>
#include <sqlite3.h>

#include <stdio.h>
#include <string.h>

static const char schema[] = "CREATE TABLE payment(amount REAL);"
                             "INSERT INTO payment VALUES (1e16), (1.0), (-1e16), (0.25);";

/* Prints what the query gives beside what it should give; returns whether they are the same. */
static int shows(sqlite3 *db, const char *sql, const char *want)
{
    sqlite3_stmt *query = NULL;
    int right = 0;

    /* As sqlite3_prepare_v2(), and accelerated where that is possible. */
    if (clreduce_prepare_v2(db, sql, -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW) {
        const char *got = (const char *)sqlite3_column_text(query, 0);
        right = got != NULL && strcmp(got, want) == 0;
        printf("%-48s %s\n", sql, got != NULL ? got : "NULL");
    } else {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
    }
    sqlite3_finalize(query);
    return right;
}

int main(void)
{
    sqlite3 *db = NULL;
    int right = 0;

    /* Once for the process, before the first connection. */
    if (sqlite3_auto_extension((void (*)(void))sqlite3_clreduce_init) != SQLITE_OK) {
        fprintf(stderr, "the extension cannot be registered\n");
        return 1;
    }
    if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
        sqlite3_exec(db, schema, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    } else {
        /* A sum that is rounded after each row would lose the small payments. */
        right = shows(db, "SELECT gpu_sum(amount) FROM payment", "1.25");
        right &= shows(db, "SELECT gpu_max(amount) FROM payment", "1.0e+16");
        right &= shows(db, "SELECT count(*) FROM payment WHERE amount > 0", "3");
        right &= shows(db, "SELECT clreduce_version()", CLREDUCE_VERSION);
    }
    sqlite3_close(db);
    return right ? 0 : 1;
}
