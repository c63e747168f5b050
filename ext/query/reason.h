/*
 * Why a SELECT is not accelerated: a code with arguments, kept by value. The text for it,
 * from the list in reasons.h, is made in reason.c alone, and only when a user asks.
 */
#ifndef CLR_QUERY_REASON_H
#define CLR_QUERY_REASON_H

#include <stddef.h>
#include <stdint.h>

/* CLR_WHY_NAME for each NAME of the list, where its text says what the arguments are. */
enum clr_reason_code {
    CLR_WHY_NONE,
#define CLR_WHY(name, text) CLR_WHY_##name,
#include "query/reasons.h"
    CLR_REASONS
};

enum { CLR_REASON_TEXT = 512, CLR_REASON_NAME = 200 };

struct clr_reason {
    enum clr_reason_code code;
    enum clr_reason_code cause; /* of a reason that follows from another one */
    int64_t numbers[2];
    char name[CLR_REASON_NAME]; /* a word, a name, or another part's message, which may be cut */
};

/* Sets a reason without arguments, or with up to two numbers. */
static inline void clr_reason_set_numbers(struct clr_reason *reason, enum clr_reason_code code,
                                          int64_t first, int64_t second)
{
    reason->code = code;
    reason->cause = CLR_WHY_NONE;
    reason->numbers[0] = first;
    reason->numbers[1] = second;
    reason->name[0] = '\0';
}

static inline void clr_reason_set(struct clr_reason *reason, enum clr_reason_code code)
{
    clr_reason_set_numbers(reason, code, 0, 0);
}

/* Sets a reason with a name of so many bytes, which is copied. */
void clr_reason_set_name(struct clr_reason *reason, enum clr_reason_code code, const char *name,
                         size_t length);

/* Whether it says that there are no pages to be read. */
static inline int clr_reason_is_no_pages(enum clr_reason_code code)
{
    return code >= CLR_WHY_READS_GENERATED;
}

/* Writes the text for a user, UTF-8 that is cut to CLR_REASON_TEXT bytes with its end. */
void clr_reason_print(const struct clr_reason *reason, char text[CLR_REASON_TEXT]);

#endif
