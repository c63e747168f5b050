/*
 * What people are told on stderr when the program ends. CLREDUCE_RUN, which clreduce-run sets, says
 * what: "PROCESS WORD ...", the number of the process that it started, and the words explain,
 * report and quiet.
 */
#include "preload/extension.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __linux__
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#endif

/* Whether CLREDUCE_RUN has a word. */
static bool is_told(const char *word)
{
    const char *words = getenv("CLREDUCE_RUN");

    return words != NULL && strstr(words, word) != NULL;
}

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes a line at once: the program's stderr may be closed by now. */
static void tell(const char *format, ...)
{
    va_list arguments;
    char line[1000];

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    dprintf(STDERR_FILENO, "clreduce-run: %s\n", line);
}

/* ---- What the gate knows. */

enum { MOST_LINES = 4096 };

struct line {
    struct clreduce_gate_line of_gate;
    char *sql, *reason; /* copies */
};

struct lines {
    int count;
    struct line *list;
};

/* Bytes of a text that are shown. */
enum { MOST_SHOWN = 200 };

/* Returns the beginning of a text in one line, without a part of a character at its end. */
static char *copy_line(const char *text)
{
    char *copy = text == NULL ? NULL : strdup(text), *to = copy;
    const char *from;

    if (copy == NULL)
        return NULL;
    for (from = copy; *from != '\0'; from++) {
        const bool is_space = strchr(" \t\n\r\f", *from) != NULL;

        if (!is_space || (to > copy && to[-1] != ' '))
            *to++ = is_space ? ' ' : *from;
    }
    if (to - copy > MOST_SHOWN) {
        for (to = copy + MOST_SHOWN; to > copy && ((unsigned char)*to & 0xc0) == 0x80; to--)
            ;
    }
    *to = '\0';
    return copy;
}

static void add(void *pointer, const struct clreduce_gate_line *of_gate)
{
    struct lines *lines = pointer;
    struct line *line = &lines->list[lines->count];

    if (lines->count == MOST_LINES)
        return;
    *line = (struct line){*of_gate, copy_line(of_gate->sql), copy_line(of_gate->reason)};
    lines->count++;
}

static int compare(const void *left, const void *right)
{
    const struct line *a = left, *b = right;

    return a->of_gate.total < b->of_gate.total ? 1 : a->of_gate.total > b->of_gate.total ? -1 : 0;
}

/* Writes a time in seconds, for people; "-" where it is not known. */
static const char *write_time(char text[16], sqlite3_int64 nanoseconds)
{
    if (nanoseconds == 0)
        return "-";
    snprintf(text, 16, "%.6f", (double)nanoseconds / 1e9);
    return text;
}

static void explain(const struct line *line)
{
    char plain[16], accelerated[16];

    tell("%s%s: %s s by SQLite, %s s accelerated: %s",
         line->reason == NULL ? "accelerated" : "by SQLite, as ",
         line->reason == NULL ? "" : line->reason, write_time(plain, line->of_gate.plain),
         write_time(accelerated, line->of_gate.accelerated), line->sql == NULL ? "" : line->sql);
}

static void report(const struct lines *lines)
{
    char total[16], plain[16], accelerated[16];
    int i;

    tell("%8s %11s %12s %12s %12s  %s", "runs", "accelerated", "seconds", "by SQLite",
         "accelerated", "statement");
    for (i = 0; i < lines->count; i++) {
        const struct clreduce_gate_line *line = &lines->list[i].of_gate;

        tell("%8lld %11lld %12s %12s %12s  %s", (long long)line->runs,
             (long long)line->accelerated_runs, write_time(total, line->total),
             write_time(plain, line->plain), write_time(accelerated, line->accelerated),
             lines->list[i].sql == NULL ? "" : lines->list[i].sql);
    }
}

static void tell_lines(bool explains, bool reports)
{
    const struct clreduce_gate *gate = atomic_load(&clr_gate);
    struct lines lines = {0, NULL};
    int i;

    if (gate != NULL)
        lines.list = calloc(MOST_LINES, sizeof lines.list[0]);
    if (lines.list == NULL)
        return;
    gate->report(add, &lines);
    qsort(lines.list, (size_t)lines.count, sizeof lines.list[0], compare);
    for (i = 0; explains && i < lines.count; i++)
        explain(&lines.list[i]);
    if (reports)
        report(&lines);
    for (i = 0; i < lines.count; i++) {
        free(lines.list[i].sql);
        free(lines.list[i].reason);
    }
    free(lines.list);
}

/* ---- Programs that have no SQLite to be taken over. */

#ifdef __linux__
/* Whether memory has the first bytes of a database's file, as every SQLite does. */
static bool has_header(const char *memory, size_t size)
{
    static const char begin[] = "SQLite form";
    const char *end = memory + size, *found;

    while ((found = memmem(memory, (size_t)(end - memory), begin, sizeof begin - 1)) != NULL) {
        if (end - found >= 16 && memcmp(found + sizeof begin - 1, "at 3", 5) == 0)
            return true;
        memory = found + 1;
    }
    return false;
}

/* Looks for a SQLite in the constant data of an object, but of this library. Returns 1, and the
   object's name at pointer, if there is one. */
static int look_into(struct dl_phdr_info *object, size_t size, void *pointer)
{
    Dl_info own;
    int i;

    (void)size;
    if (dladdr((const void *)&clr_gate, &own) != 0 &&
        own.dli_fbase == (const void *)object->dlpi_addr)
        return 0;
    for (i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && (part->p_flags & PF_R) != 0 && (part->p_flags & PF_W) == 0 &&
            has_header((const char *)object->dlpi_addr + part->p_vaddr, part->p_filesz)) {
            *(const char **)pointer = object->dlpi_name;
            return 1;
        }
    }
    return 0;
}

static bool has_sqlite(const char **name)
{
    return dl_iterate_phdr(look_into, name) != 0;
}
#else
static bool has_sqlite(const char **name)
{
    (void)name;
    return false;
}
#endif

static void tell_nothing_taken(void)
{
    struct rusage children;
    const char *name = "";

    if (has_sqlite(&name))
        tell("nothing was accelerated: the program has its SQLite in %s, and opened no database by "
             "calls that can be taken over. In Python use sqlite3.connect(..., "
             "factory=clreduce.Connection), in C clreduce_prepare_v2()",
             *name == '\0' ? "its own file" : name);
    /* What it has started may have used one. */
    else if (getrusage(RUSAGE_CHILDREN, &children) == 0 && children.ru_maxrss == 0)
        tell("nothing was accelerated: the program used no SQLite");
}

__attribute__((destructor)) static void end(void)
{
    const char *words = getenv("CLREDUCE_RUN");
    bool explains, reports;

    if (words == NULL)
        return;
    explains = is_told("explain");
    reports = is_told("report");
    if (!atomic_load(&clr_was_opened)) {
        if (!is_told("quiet") && strtol(words, NULL, 10) == (long)getpid())
            tell_nothing_taken();
        return;
    }
    if (explains || reports || !is_told("quiet"))
        clr_extension_tell_failures(tell, explains || reports);
    if (clr_originals_count() > 1 && (explains || reports))
        tell("the program has %d copies of SQLite; the first that opened a database was taken over",
             clr_originals_count());
    if (explains || reports)
        tell_lines(explains, reports);
}
