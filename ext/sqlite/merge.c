#include "sqlite/merge.h"

#include "sqlite/function.h"

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
    char *message;

    if (type == SQLITE_BLOB && fault == CLR_STATE_SOUND)
        return true;
    reason = type == SQLITE_BLOB ? clr_state_fault_text(fault, sqlite3_value_blob(argument))
                                 : types[type];
    message =
        sqlite3_mprintf("%s: the argument is not a state of %s: %s%s", function->name,
                        function->aggregate->name, type == SQLITE_BLOB ? "" : "it is ", reason);
    if (message == NULL)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_error(context, message, -1);
    sqlite3_free(message);
    return false;
}
