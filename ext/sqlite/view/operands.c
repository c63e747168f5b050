#include "sqlite/view/operands.h"

#include "sqlite/schema/table_info.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"

#include <string.h>

/* Returns the text of the statement, to be freed with sqlite3_free(), or NULL. */
static char *write_statement(const struct clr_query *query)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    int i;

    for (i = 0; i < query->operand_count; i++)
        sqlite3_str_appendf(text, "%s(%s)", i == 0 ? "SELECT " : ", ", query->operands[i]);
    return sqlite3_str_finish(text);
}

/* Has SQLite evaluate the operands, once it is known what the parameters are. */
static int step(sqlite3 *db, const struct clr_query *query, struct clr_operands *operands)
{
    sqlite3_stmt *statement = NULL;
    int rc = clr_statement_prepare_text(db, &statement, write_statement(query)), i;

    if (rc == SQLITE_OK)
        rc = clr_values_bind(statement, operands->values, operands->first);
    if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        for (i = 0; i < query->operand_count; i++, operands->count++) {
            operands->values[operands->count] =
                sqlite3_value_dup(sqlite3_column_value(statement, i));
            if (operands->values[operands->count] == NULL)
                rc = SQLITE_NOMEM;
        }
    }
    rc = clr_statement_end(statement, rc);
    return rc == SQLITE_OK && operands->count != operands->first + query->operand_count
               ? SQLITE_ERROR
               : rc;
}

int clr_operands_evaluate(sqlite3 *db, const struct clr_query *query,
                          sqlite3_value *const *parameters, int parameter_count,
                          struct clr_operands *operands, struct clr_reason *reason)
{
    int rc;

    operands->count = operands->first = parameter_count;
    operands->values = sqlite3_malloc64(((sqlite3_uint64)parameter_count + CLR_MOST_OPERANDS + 1) *
                                        sizeof(sqlite3_value *));
    if (operands->values == NULL)
        return SQLITE_NOMEM;
    memcpy((void *)operands->values, (const void *)parameters,
           (size_t)parameter_count * sizeof(sqlite3_value *));
    if (query->operand_count == 0)
        return SQLITE_OK;
    rc = step(db, query, operands);
    if (rc == SQLITE_OK || rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT)
        return rc;
    clr_statement_refuse(db, rc, reason);
    return SQLITE_OK;
}

void clr_operands_free(struct clr_operands *operands)
{
    int i;

    for (i = operands->first; i < operands->count; i++)
        sqlite3_value_free(operands->values[i]);
    sqlite3_free((void *)operands->values);
    *operands = (struct clr_operands){.values = NULL};
}

/* Returns the bound that TEXT is. */
static int64_t bound_of_text(const struct clr_bound *bound, const unsigned char *text, size_t size)
{
    int64_t count;
    const bool is_time = clr_timestamp_count(bound->format, text, size, &count);

    if (bound->kind == CLR_BOUND_EQUAL)
        return is_time ? count : CLR_TIMESTAMP_NEVER;
    if (!is_time)
        count = clr_timestamp_below(bound->format, text, size);
    return bound->kind == CLR_BOUND_BELOW || is_time ? count : count - 1;
}

/*
 * Makes a bound of a value, which may be converted: SQLite, "Datatypes In SQLite", section 4.2. A
 * number is less than all TEXT, and a BLOB greater.
 */
static int read_bound(const struct clr_bound *bound, sqlite3_value *value,
                      struct clr_scalar *constant)
{
    const bool is_equal = bound->kind == CLR_BOUND_EQUAL, is_below = bound->kind == CLR_BOUND_BELOW;
    int type = sqlite3_value_type(value);
    const unsigned char *text;

    if (bound->is_numeric && type == SQLITE_TEXT)
        type = sqlite3_value_numeric_type(value);
    if (bound->is_text && (type == SQLITE_INTEGER || type == SQLITE_FLOAT))
        type = SQLITE_TEXT;
    *constant = (struct clr_scalar){.tag = CLR_TAG_INTEGER,
                                    .bits = is_below ? CLR_TIMESTAMP_EMPTY : CLR_TIMESTAMP_NEVER};
    switch (type) {
    case SQLITE_NULL:
        constant->tag = CLR_TAG_NULL;
        constant->bits = 0;
        return SQLITE_OK;
    case SQLITE_TEXT:
        text = sqlite3_value_text(value);
        if (text == NULL)
            return SQLITE_NOMEM;
        constant->bits = bound_of_text(bound, text, (size_t)sqlite3_value_bytes(value));
        return SQLITE_OK;
    case SQLITE_BLOB:
        if (!is_equal)
            constant->bits = clr_timestamp_all(bound->format) - !is_below;
        return SQLITE_OK;
    default:
        return SQLITE_OK;
    }
}

int clr_operands_read(const struct clr_operands *operands, const struct clr_query *query,
                      struct clr_scalar *constants)
{
    int rc = SQLITE_OK, i;

    for (i = 0; i < query->constant_count && rc == SQLITE_OK; i++) {
        const int number = query->parameters[i];
        sqlite3_value *value = number > 0 ? operands->values[number - 1] : NULL, *own;

        constants[i] = value == NULL ? (struct clr_scalar){CLR_TAG_NULL, 0} : clr_scalar_of(value);
        if (value == NULL || query->bounds[i].kind == CLR_BOUND_NONE)
            continue;
        own = sqlite3_value_dup(value); /* the caller's stays as it is */
        rc = own == NULL ? SQLITE_NOMEM : read_bound(&query->bounds[i], own, &constants[i]);
        sqlite3_value_free(own);
    }
    return rc;
}
