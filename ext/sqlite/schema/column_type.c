#include "sqlite/schema/column_type.h"

#include "sqlite/session/statement.h"

#include <string.h>

/* Whether the table is STRICT: before 3.37 none is, and no pragma tells. */
static int find_strict(sqlite3 *db, const struct clr_table_info *table, bool *is_strict)
{
    sqlite3_stmt *statement;
    int rc;

    *is_strict = false;
    if (sqlite3_libversion_number() < 3037000)
        return SQLITE_OK;
    rc = clr_statement_prepare(db, &statement, "PRAGMA \"%w\".table_list(\"%w\")", table->schema,
                               table->name);
    /* schema, name, type, ncol, wr, strict */
    if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        *is_strict = sqlite3_column_int(statement, 5) != 0;
    return clr_statement_end(statement, rc);
}

int clr_column_type_find(sqlite3 *db, const struct clr_table_info *table, int number,
                         struct clr_column_type *type)
{
    const char *declared = "INTEGER", *collation = "BINARY";
    bool is_strict;
    int rc = SQLITE_OK;

    *type = (struct clr_column_type){.affinity = CLR_AFFINITY_INTEGER};
    if (number < table->column_count)
        rc = sqlite3_table_column_metadata(db, table->schema, table->name,
                                           table->columns[number].name, &declared, &collation, NULL,
                                           NULL, NULL);
    if (rc != SQLITE_OK)
        return rc;
    type->affinity = clr_affinity_of(declared);
    type->collation = sqlite3_mprintf("%s", collation);
    if (type->collation == NULL)
        return SQLITE_NOMEM;
    if (type->affinity == CLR_AFFINITY_ANY) {
        rc = find_strict(db, table, &is_strict);
        type->affinity = is_strict ? CLR_AFFINITY_BLOB : CLR_AFFINITY_NUMERIC;
    }
    return rc;
}

void clr_column_type_free(struct clr_column_type *type)
{
    sqlite3_free(type->collation);
    type->collation = NULL;
}
