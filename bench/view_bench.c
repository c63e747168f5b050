/*
 * Accelerated views beside the SELECTs that they hold. Every result is a JSON object on a line of
 * the standard output; what evaluates them is in bench/measuring/.
 *
 *     view-bench make DATABASE ROWS
 *         makes the database of view_data.h, unless it is there already.
 *
 *     view-bench groups DATABASE ROWS
 *         makes that of groups_data.h.
 *
 *     view-bench compare DATABASE EXTENSION ROUNDS SECONDS DEVICE_WAIT
 *         Views and SELECTs by turns in one process: view_compare.c.
 *
 *     view-bench session DATABASE EXTENSION DEVICE RUNS SECONDS SQL
 *         What a process pays from its start on, query after query: view_session.c.
 *
 *     view-bench changes DATABASE EXTENSION DEVICE ROUNDS DEVICE_WAIT SQL
 *         A view's query after pages of its table were changed: view_changes.c.
 *
 *     view-bench rows DATABASE EXTENSION DEVICE
 *         Views and SELECTs of many rows, each as it is asked for: view_rows.c.
 *
 *     view-bench pool DATABASE EXTENSION DEVICE CONNECTIONS COMMITS SECONDS CHECK
 *         Connections of one process that ask the same views, beside a writer: view_pool.c.
 *
 * Exit status: 0; 1 if the command line is wrong, 2 with a message if anything else is.
 */
#include "groups_data.h"
#include "output.h"
#include "view_commands.h"
#include "view_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char bench_program[] = "view-bench";

static void make(char **arguments)
{
    bench_tables_make(arguments[0], atoll(arguments[1]), &bench_view_tables);
}

static void make_groups(char **arguments)
{
    bench_tables_make(arguments[0], atoll(arguments[1]), &bench_group_tables);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int arguments;
        void (*run)(char **arguments);
    } commands[] = {{"make", 2, make},
                    {"groups", 2, make_groups},
                    {"compare", 5, bench_view_compare},
                    {"session", 6, bench_view_session},
                    {"changes", 6, bench_view_changes},
                    {"rows", 3, bench_view_rows},
                    {"pool", 7, bench_view_pool}};
    size_t i;

    for (i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (argc == 2 + commands[i].arguments && strcmp(argv[1], commands[i].name) == 0) {
            commands[i].run(argv + 2);
            return 0;
        }
    }
    fputs("usage: view-bench make DATABASE ROWS\n"
          "       view-bench groups DATABASE ROWS\n"
          "       view-bench compare DATABASE EXTENSION ROUNDS SECONDS DEVICE_WAIT\n"
          "       view-bench session DATABASE EXTENSION DEVICE RUNS SECONDS SQL\n"
          "       view-bench changes DATABASE EXTENSION DEVICE ROUNDS DEVICE_WAIT SQL\n"
          "       view-bench rows DATABASE EXTENSION DEVICE\n"
          "       view-bench pool DATABASE EXTENSION DEVICE CONNECTIONS COMMITS SECONDS CHECK\n",
          stderr);
    return 1;
}
