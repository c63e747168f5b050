#include "sqlite/aggregates/value_memory.h"

#include "sqlite/aggregates/function.h"
#include "sqlite/session/sql_value.h"

bool clr_memory_granted_for(sqlite3_context *context, enum clr_code code, const char *kept,
                            uint64_t limit)
{
    if (code == CLR_NOMEM)
        sqlite3_result_error_nomem(context);
    else if (code == CLR_STOPPED)
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    else if (code == CLR_LIMIT)
        clr_set_error(context,
                      "out of memory: %s() keeps %s, which would take more than the %llu bytes "
                      "that the setting values_memory allows",
                      clr_function_of(context)->name, kept, (unsigned long long)limit);
    return code == CLR_OK;
}

bool clr_memory_granted(sqlite3_context *context, enum clr_code code)
{
    return clr_memory_granted_for(context, code, "its values",
                                  clr_function_connection(context)->values.limit);
}
