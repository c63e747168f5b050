#include "sqlite/schema/key_orders.h"

#include "sqlite/session/statement.h"

/* Columns of PRAGMA index_xinfo. */
enum { AT_NUMBER = 0, AT_DESCENDS = 3, AT_COLLATION = 4 };

int clr_key_orders_find(sqlite3 *db, const char *schema, const char *index,
                        struct clr_key_orders *orders)
{
    sqlite3_stmt *statement;
    int rc =
        clr_statement_prepare(db, &statement, "PRAGMA \"%w\".index_xinfo(\"%w\")", schema, index);

    *orders = (struct clr_key_orders){{CLR_ORDER_UNKNOWN}};
    while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *collation = (const char *)sqlite3_column_text(statement, AT_COLLATION);
        const int number = sqlite3_column_int(statement, AT_NUMBER);

        if (number < CLR_KEY_COLUMNS && collation != NULL &&
            sqlite3_stricmp(collation, "BINARY") == 0)
            orders->of[number] = sqlite3_column_int(statement, AT_DESCENDS) != 0
                                     ? CLR_ORDER_DESCENDS
                                     : CLR_ORDER_ASCENDS;
    }
    rc = clr_statement_end(statement, rc);
    if (rc != SQLITE_OK)
        *orders = (struct clr_key_orders){{CLR_ORDER_UNKNOWN}};
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}
