/*
 * The functions of SQLite itself, which the ones that this library exports stand in front of. No
 * symbol of SQLite is linked: each object of the process has its functions where the linker would
 * have found them without this library, so that two copies of SQLite in one process stay apart.
 */
#ifndef CLR_PRELOAD_ORIGINALS_H
#define CLR_PRELOAD_ORIGINALS_H

#include <sqlite3ext.h>

#include <stdbool.h>

/* The functions that this library exports: those that stand in for SQLite's. */
#define CLR_EXPORTED(X)                                                                            \
    X(bind_blob)                                                                                   \
    X(bind_blob64)                                                                                 \
    X(bind_double)                                                                                 \
    X(bind_int)                                                                                    \
    X(bind_int64)                                                                                  \
    X(bind_null)                                                                                   \
    X(bind_pointer)                                                                                \
    X(bind_text)                                                                                   \
    X(bind_text16)                                                                                 \
    X(bind_text64)                                                                                 \
    X(bind_value)                                                                                  \
    X(bind_zeroblob)                                                                               \
    X(bind_zeroblob64)                                                                             \
    X(clear_bindings)                                                                              \
    X(close)                                                                                       \
    X(close_v2)                                                                                    \
    X(column_blob)                                                                                 \
    X(column_bytes)                                                                                \
    X(column_bytes16)                                                                              \
    X(column_double)                                                                               \
    X(column_int)                                                                                  \
    X(column_int64)                                                                                \
    X(column_text)                                                                                 \
    X(column_text16)                                                                               \
    X(column_type)                                                                                 \
    X(column_value)                                                                                \
    X(data_count)                                                                                  \
    X(exec)                                                                                        \
    X(expanded_sql)                                                                                \
    X(finalize)                                                                                    \
    X(get_table)                                                                                   \
    X(next_stmt)                                                                                   \
    X(open)                                                                                        \
    X(open16)                                                                                      \
    X(open_v2)                                                                                     \
    X(prepare16_v2)                                                                                \
    X(prepare16_v3)                                                                                \
    X(prepare_v2)                                                                                  \
    X(prepare_v3)                                                                                  \
    X(profile)                                                                                     \
    X(progress_handler)                                                                            \
    X(reset)                                                                                       \
    X(rollback_hook)                                                                               \
    X(set_authorizer)                                                                              \
    X(step)                                                                                        \
    X(stmt_busy)                                                                                   \
    X(stmt_status)                                                                                 \
    X(trace)                                                                                       \
    X(trace_v2)                                                                                    \
    X(transfer_bindings)

/* More of them, which are called here. */
#define CLR_CALLED(X)                                                                              \
    X(auto_extension)                                                                              \
    X(bind_parameter_count)                                                                        \
    X(cancel_auto_extension)                                                                       \
    X(column_count)                                                                                \
    X(column_name)                                                                                 \
    X(config)                                                                                      \
    X(compileoption_used)                                                                          \
    X(db_handle)                                                                                   \
    X(db_mutex)                                                                                    \
    X(errmsg)                                                                                      \
    X(errstr)                                                                                      \
    X(free)                                                                                        \
    X(libversion)                                                                                  \
    X(libversion_number)                                                                           \
    X(mprintf)                                                                                     \
    X(mutex_enter)                                                                                 \
    X(mutex_leave)                                                                                 \
    X(sql)                                                                                         \
    X(stmt_isexplain)

/* One copy of SQLite. A function that it does not have is NULL. */
struct clr_originals {
#define CLR_FIELD(name) __typeof__(&sqlite3_##name) name;
    CLR_EXPORTED(CLR_FIELD)
    CLR_CALLED(CLR_FIELD)
#undef CLR_FIELD
    const char *begin, *end; /* of the file's memory that has them */
};

/* The copy that was found first, or NULL; and whether there is another one. */
extern _Atomic(const struct clr_originals *) clr_first_originals;
extern _Atomic(bool) clr_originals_differ;

/* Returns the copy whose functions the code at an address calls, NULL if there is none. It stays
   loaded from then on. */
const struct clr_originals *clr_originals_of_code(const void *address);

/* Whether the code at an address is SQLite's own, or of a file that has SQLite in it. */
static inline bool clr_originals_have(const struct clr_originals *originals, const void *address)
{
    return (const char *)address >= originals->begin && (const char *)address < originals->end;
}

/* How many copies were found so far. */
int clr_originals_count(void);

#endif
