/*
 * An SQLite that is too old refuses the extension, and says both versions. The two functions that
 * tell the version are this program's own, which the linker prefers to the library's.
 */
#include "sqlite/database.h"

static int version;
static char version_name[] = "3.33.0";

int sqlite3_libversion_number(void)
{
    return version;
}

const char *sqlite3_libversion(void)
{
    return version_name;
}

/* Returns what the entry point says of that version. */
static int load(int number, char **error)
{
    sqlite3 *db = database_open();
    int rc;

    version = number;
    *error = NULL;
    rc = sqlite3_clreduce_init(db, error, NULL);
    sqlite3_close(db);
    return rc;
}

TAP_TEST(all_tests)
{
    static const int too_old[] = {3008000, 3031000, 3033000};
    const int linked = SQLITE_VERSION_NUMBER;
    char *error;

    TAP_EACH (i, too_old) {
        tap_is_int64(load(too_old[i], &error), SQLITE_ERROR, "%d is refused", too_old[i]);
        tap_is_string(error, "clreduce needs SQLite 3.34 or later, and this is 3.33.0",
                      "and both versions are named");
        sqlite3_free(error);
    }
    tap_is_int64(load(linked, &error), SQLITE_OK, "%d will do", linked);
    tap_ok(error == NULL, "and no error is written");
    sqlite3_free(error);
}
