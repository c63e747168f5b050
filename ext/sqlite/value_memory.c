#include "sqlite/value_memory.h"

#include "sqlite/function.h"
#include "sqlite/sql_value.h"

bool clr_memory_granted(sqlite3_context *context, enum clr_code code)
{
    const struct clr_function *function = clr_function_of(context);

    if (code == CLR_NOMEM)
        sqlite3_result_error_nomem(context);
    else if (code == CLR_STOPPED)
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    else if (code == CLR_LIMIT)
        clr_set_error(context,
                      "out of memory: %s() keeps its values, which would take more than the %llu "
                      "bytes that the setting values_memory allows",
                      function->name, (unsigned long long)function->connection->values.limit);
    return code == CLR_OK;
}
