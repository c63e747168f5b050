/* The commands of view-bench, each in a file of its own that describes it. */
#ifndef CLR_BENCH_VIEW_COMMANDS_H
#define CLR_BENCH_VIEW_COMMANDS_H

/* The arguments are those behind the command's name, as many as view_bench.c says. */
void bench_view_changes(char **arguments);
void bench_view_compare(char **arguments);
void bench_view_pool(char **arguments);
void bench_view_rows(char **arguments);
void bench_view_session(char **arguments);

#endif
