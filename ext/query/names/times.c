#include "query/names/times.h"

#include "query/syntax/grammar.h"

#include <string.h>

/*
 * How much of a time an expression's value follows from. It is found out by what SQLite documents
 * of its functions ("Date And Time Functions"), and by what a timestamp's first characters are. An
 * operand's level is that of what is made of it, except where a rule below says that less is read.
 */
enum level { READS_NOTHING, READS_DAY, READS_HOUR, READS_MINUTE, READS_ALL };

/* What the column's times are. */
enum kind_of_time { TEXT_TIMES, UNIX_TIMES, JULIAN_TIMES };

static enum level most_of(enum level a, enum level b)
{
    return a > b ? a : b;
}

/* ---- Literals. */

/* A string literal's text between its quotes; NULL: it is no such literal. */
static const char *string_of(const struct clr_node *node, size_t *length)
{
    const struct clr_token *token = &node->names[0];

    if (node->kind != CLR_N_LITERAL || token->kind != CLR_T_STRING)
        return NULL;
    *length = token->length - 2;
    return token->text + 1;
}

/* Returns the value of a literal that is a positive number of few digits, or -1. */
static int number_of(const struct clr_node *node)
{
    const struct clr_token *token = &node->names[0];
    size_t i;
    int number = 0;

    if (node->kind != CLR_N_LITERAL || token->kind != CLR_T_NUMBER || node->negative ||
        token->length > 4)
        return -1;
    for (i = 0; i < token->length; i++) {
        if (token->text[i] < '0' || token->text[i] > '9')
            return -1;
        number = number * 10 + (token->text[i] - '0');
    }
    return number;
}

/* Takes a word in capitals off the front of a text, without regard to ASCII case. */
static bool take_word(const char **text, size_t *length, const char *word)
{
    const size_t size = strlen(word);

    if (!clr_name_begins(*text, *length, word))
        return false;
    *text += size;
    *length -= size;
    return true;
}

/* ---- Modifiers. */

/* SQLite has no times before noon of a day in the year -4713, so that a time of a morning has no
   date where one of its afternoon has. So many shifts, each of less than 1,000 years, lead none
   there that is a time of the year 0 or later, as those of units are. */
enum { MOST_SHIFTS = 4 };

/* A whole number of units, with or without a sign. */
static enum level read_by_shift(const char *text, size_t length)
{
    static const struct {
        const char *word;
        size_t most_digits; /* of less than 1,000 years */
        enum level level;
    } units[] = {{"DAY", 5, READS_DAY},
                 {"MONTH", 4, READS_DAY},
                 {"YEAR", 3, READS_DAY},
                 {"HOUR", 6, READS_HOUR},
                 {"MINUTE", 6, READS_MINUTE}};
    size_t digits = 0, i;

    if (length > 0 && (*text == '+' || *text == '-')) {
        text++;
        length--;
    }
    for (; length > 0 && *text >= '0' && *text <= '9'; digits++, length--)
        text++;
    for (; length > 0 && *text == ' '; length--)
        text++;
    for (i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (take_word(&text, &length, units[i].word)) {
            take_word(&text, &length, "S");
            return length == 0 && digits > 0 && digits <= units[i].most_digits ? units[i].level
                                                                               : READS_ALL;
        }
    }
    return READS_ALL;
}

/* How much of a time a function reads that is changed by modifiers, from that node on; level: how
   much it reads of one that is not. */
static enum level read_by_modifiers(const struct clr_node *node, enum level level)
{
    enum level shifts = READS_NOTHING;
    int count = 0;

    for (; node != NULL; node = node->next) {
        size_t length;
        const char *text = string_of(node, &length);

        if (text == NULL)
            return READS_ALL;
        if (take_word(&text, &length, "START OF ")) {
            if (!take_word(&text, &length, "DAY") && !take_word(&text, &length, "MONTH") &&
                !take_word(&text, &length, "YEAR"))
                return READS_ALL;
            /* No more is left of the time. */
            level = READS_DAY;
        } else if (take_word(&text, &length, "WEEKDAY ")) {
            if (length != 1 || *text < '0' || *text > '6')
                return READS_ALL;
            length = 0;
        } else {
            shifts = most_of(shifts, read_by_shift(text, length));
            length = count++ == MOST_SHIFTS ? length : 0;
        }
        if (length != 0)
            return READS_ALL;
    }
    return most_of(level, shifts);
}

/* How much a format of strftime() shows. */
static enum level read_by_format(const char *format, size_t length)
{
    enum level level = READS_DAY;
    size_t i;

    for (i = 0; i < length; i++) {
        if (format[i] != '%')
            continue;
        if (++i == length)
            return READS_ALL;
        if (strchr("HIklpP", format[i]) != NULL)
            level = most_of(level, READS_HOUR);
        else if (strchr("MR", format[i]) != NULL)
            level = READS_MINUTE;
        else if (strchr("%deFgGjmuUVwWY", format[i]) == NULL)
            return READS_ALL;
    }
    return level;
}

/* ---- Expressions. */

static bool is_unixepoch(const struct clr_node *node)
{
    size_t length;
    const char *text = node == NULL ? NULL : string_of(node, &length);

    return text != NULL && length == strlen("UNIXEPOCH") &&
           clr_name_begins(text, length, "UNIXEPOCH");
}

bool clr_times_is_function(const char *name)
{
    return CLR_TEXT_IN(name, "date", "time", "datetime", "julianday", "unixepoch", "strftime",
                       "timediff");
}

const struct clr_node *clr_times_first(const struct clr_node *function)
{
    const struct clr_node *first = function->first;

    return first != NULL && strcmp(function->names[0].name, "strftime") == 0 ? first->next : first;
}

bool clr_times_takes_more(const struct clr_node *function)
{
    return strcmp(function->names[0].name, "timediff") == 0;
}

/* How much of the column a function of times reads, whose time it is. */
static enum level read_by_time(const struct clr_node *node, enum kind_of_time kind)
{
    const char *name = node->names[0].name;
    const struct clr_node *time = node->first;
    enum level level = READS_ALL;

    if (strcmp(name, "strftime") == 0 && time != NULL) {
        size_t length;
        const char *format = string_of(time, &length);

        level = format == NULL ? READS_ALL : read_by_format(format, length);
        time = time->next;
    } else if (strcmp(name, "date") == 0) {
        level = READS_DAY;
    } else if (strcmp(name, "time") != 0 && strcmp(name, "datetime") != 0 &&
               strcmp(name, "julianday") != 0 && strcmp(name, "unixepoch") != 0) {
        return READS_ALL;
    }
    if (time == NULL || !clr_node_is_scanned(time) ||
        (kind == UNIX_TIMES) != is_unixepoch(time->next))
        return READS_ALL;
    return read_by_modifiers(kind == UNIX_TIMES ? time->next->next : time->next, level);
}

/* How much of a timestamp its first characters are. */
static enum level read_by_prefix(size_t characters)
{
    return characters <= 10   ? READS_DAY
           : characters <= 13 ? READS_HOUR
           : characters <= 16 ? READS_MINUTE
                              : READS_ALL;
}

/* ts LIKE 'prefix%', or GLOB 'prefix*'. */
static enum level read_by_pattern(const struct clr_node *node, const char *special, char all)
{
    const struct clr_node *pattern = node->first->next;
    size_t length, prefix = 0;
    const char *text = string_of(pattern, &length);

    if (text == NULL || !node->is_infix || pattern->next != NULL)
        return READS_ALL;
    while (prefix < length && strchr(special, text[prefix]) == NULL)
        prefix++;
    return prefix + 1 == length && text[prefix] == all ? read_by_prefix(prefix) : READS_ALL;
}

/* substr(ts, m, n) */
static enum level read_by_part(const struct clr_node *node)
{
    const struct clr_node *from = node->first->next, *count = from == NULL ? NULL : from->next;
    int first, characters;

    if (count == NULL || count->next != NULL)
        return READS_ALL;
    first = number_of(from);
    characters = number_of(count);
    return first < 1 || characters < 0 ? READS_ALL
                                       : read_by_prefix((size_t)(first + characters - 1));
}

/* A comparison of the column, the first operand, with literals that are no longer than a prefix. */
static enum level read_by_literals(const struct clr_node *node)
{
    const struct clr_node *other = node->first->next;
    enum level level = READS_DAY;
    size_t length;

    if (!node->first->column.is_binary)
        return READS_ALL;
    for (; other != NULL; other = other->next) {
        if (string_of(other, &length) == NULL)
            return READS_ALL;
        level = most_of(level, read_by_prefix(length));
    }
    return level;
}

static bool is_named(const struct clr_node *node, const char *name)
{
    return strcmp(node->names[0].name, name) == 0;
}

/* How much of TEXT that is a timestamp an expression reads whose first operand it is. */
static enum level read_of_text(const struct clr_node *node)
{
    switch (node->kind) {
    case CLR_N_CAST:
        /* Of '2024-01-05' a number is made as far as it is one. */
        return node->cast == CLR_CAST_TO_INTEGER || node->cast == CLR_CAST_TO_REAL ||
                       node->cast == CLR_CAST_TO_NUMERIC
                   ? READS_DAY
                   : READS_ALL;
    case CLR_N_BETWEEN:
    case CLR_N_IN:
        return read_by_literals(node);
    case CLR_N_FOLD:
        return clr_opcode_compares(node->opcode) ? read_by_literals(node) : READS_ALL;
    case CLR_N_FUNCTION:
        if (!node->is_builtin)
            return READS_ALL;
        if (is_named(node, "like"))
            return read_by_pattern(node, "%_", '%');
        if (is_named(node, "glob"))
            return read_by_pattern(node, "*?[", '*');
        if (is_named(node, "length") || is_named(node, "typeof"))
            return READS_DAY;
        return is_named(node, "substr") || is_named(node, "substring") ? read_by_part(node)
                                                                       : READS_ALL;
    default:
        return READS_ALL;
    }
}

static enum level read_by(const struct clr_node *node, enum kind_of_time kind)
{
    const struct clr_node *child;
    enum level level = READS_NOTHING, least = READS_ALL;

    if (clr_node_is_scanned(node))
        return READS_ALL;
    if (node->kind == CLR_N_FUNCTION && node->is_builtin)
        least = read_by_time(node, kind);
    if (least == READS_ALL && node->kind == CLR_N_UNARY && clr_node_is_scanned(node->first) &&
        (node->opcode == CLR_OP_IS_NULL || node->opcode == CLR_OP_NOT_NULL))
        least = READS_DAY;
    if (least == READS_ALL && kind == TEXT_TIMES && node->first != NULL &&
        clr_node_is_scanned(node->first))
        least = read_of_text(node);
    if (least != READS_ALL)
        return least;
    for (child = node->first; child != NULL; child = child->next)
        level = most_of(level, read_by(child, kind));
    return level;
}

enum clr_time_unit clr_times_unit(const struct clr_node *node)
{
    static const enum clr_time_unit of_text[] = {CLR_TIME_NONE, CLR_TIME_DAY, CLR_TIME_HOUR,
                                                 CLR_TIME_MINUTE, CLR_TIME_NONE};
    static const enum clr_time_unit of_seconds[] = {
        CLR_TIME_NONE, CLR_TIME_UNIX_DAY, CLR_TIME_UNIX_HOUR, CLR_TIME_UNIX_MINUTE, CLR_TIME_NONE};
    const struct clr_node *column = clr_node_find(node, clr_node_is_scanned);
    enum level level;

    if (column == NULL || clr_node_find(node, clr_node_is_dimension) != NULL ||
        column->column.has_no_units)
        return CLR_TIME_NONE;
    if (column->column.times != 0)
        return of_text[read_by(node, TEXT_TIMES)];
    if (column->column.is_text || column->column.seems_text)
        return CLR_TIME_NONE;
    level = read_by(node, UNIX_TIMES);
    if (level == READS_ALL && column->column.is_real && read_by(node, JULIAN_TIMES) == READS_DAY)
        return CLR_TIME_JULIAN_DAY;
    return of_seconds[level];
}

bool clr_times_has_counts(const struct clr_node *node)
{
    return clr_node_is_scanned(node) && node->column.times != 0 && !node->column.has_no_counts &&
           node->column.is_binary;
}

enum clr_time_number clr_times_number(const struct clr_node *node)
{
    const struct clr_node *time = node->first;
    enum clr_time_number number = CLR_TIME_NO_NUMBER;
    size_t length;
    const char *format;

    if (node->kind != CLR_N_FUNCTION || !node->is_builtin || time == NULL)
        return CLR_TIME_NO_NUMBER;
    if (is_named(node, "unixepoch")) {
        number = CLR_TIME_SECONDS;
    } else if (is_named(node, "julianday")) {
        number = CLR_TIME_JULIAN;
    } else if (is_named(node, "strftime")) {
        format = string_of(time, &length);
        time = time->next;
        if (format != NULL && length == 2 && memcmp(format, "%s", 2) == 0)
            number = CLR_TIME_SECONDS_TEXT;
    }
    /* Of fractions of a second SQLite's versions round some. */
    return time != NULL && time->next == NULL && clr_times_has_counts(time) &&
                   clr_timestamp_steps(time->column.times) <= CLR_DAY_SECONDS
               ? number
               : CLR_TIME_NO_NUMBER;
}
