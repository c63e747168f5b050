#include "sqlite/aggregates/merge.h"

#include "sqlite/aggregates/function.h"
#include "sqlite/session/sql_value.h"

bool clr_merge_argument(sqlite3_context *context, sqlite3_value *argument,
                        enum clr_state_fault fault)
{
    static const char *const types[] = {
        [SQLITE_INTEGER] = "an INTEGER",
        [SQLITE_FLOAT] = "a REAL",
        [SQLITE_TEXT] = "TEXT",
    };
    const struct clr_function *function = clr_function_of(context);
    const int type = sqlite3_value_type(argument);
    const char *reason;

    if (type == SQLITE_BLOB && fault == CLR_STATE_SOUND)
        return true;
    reason = type == SQLITE_BLOB ? clr_state_fault_text(fault, sqlite3_value_blob(argument))
                                 : types[type];
    clr_set_error(context, "%s: the argument is not a state of %s: %s%s", function->name,
                  function->aggregate->name, type == SQLITE_BLOB ? "" : "it is ", reason);
    return false;
}
