#include "query/result_row.h"

#include "base/memory.h"
#include "query/syntax.h"

#include <stdio.h>
#include <string.h>

/* Text that is measured first, while `text` is NULL, and written then. */
struct row {
    const struct clr_syntax *syntax;
    int parameter_count;
    int call; /* the number of the next one */
    char *text;
    size_t length;
};

static void add(struct row *row, const char *part, size_t length)
{
    if (row->text != NULL)
        memcpy(row->text + row->length, part, length);
    row->length += length;
}

/* Whether a call gives JSON: it is bound as a state, of which the answer makes JSON. */
static bool is_json(const struct clr_node *node)
{
    return node->kind == CLR_N_AGGREGATE && node->aggregate->needs == CLR_NEEDS_BINS &&
           !(node->form & CLR_FORM_STATE);
}

/* Adds the tokens from begin up to end, with spaces between them: no two run together, and comments
   are gone. */
static void add_tokens(struct row *row, size_t begin, size_t end)
{
    char number[48];
    size_t i;

    for (i = begin; i < end;) {
        const struct clr_token *token = &row->syntax->tokens[i];
        const struct clr_node *node = token->node;
        const char *part = token->text;
        size_t size = token->length;

        if (node != NULL) {
            const int n = node->kind == CLR_N_AGGREGATE ? row->parameter_count + 1 + row->call++
                                                        : node->number;
            size = (size_t)snprintf(number, sizeof number,
                                    is_json(node) ? "gpu_histogram_merge(?%d)" : "?%d", n);
            part = number;
        }
        add(row, " ", 1);
        add(row, part, size);
        i = node != NULL ? node->end : i + 1;
    }
}

/* Returns where the select list ends. */
static size_t write(struct row *row)
{
    const struct clr_node *item;
    size_t items;

    row->length = 0;
    row->call = 0;
    add(row, "SELECT", 6);
    for (item = row->syntax->items.first; item != NULL; item = item->next) {
        add_tokens(row, item->begin, item->end);
        if (item->next != NULL)
            add(row, ",", 1);
    }
    items = row->length;
    add_tokens(row, row->syntax->limit_begin, row->syntax->limit_end);
    add(row, "", 1);
    return items;
}

enum clr_code clr_result_row_write(struct clr_query *query, int parameter_count)
{
    struct row row = {.syntax = query->syntax, .parameter_count = parameter_count};

    write(&row);
    row.text = clr_memory_alloc(row.length);
    if (row.text == NULL)
        return CLR_NOMEM;
    query->finish_items = write(&row);
    query->finish = row.text;
    return CLR_OK;
}
