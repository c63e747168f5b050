/* Whether several threads may read a database's file at the same time. */
#ifndef CLR_SQLITE_FILE_READING_H
#define CLR_SQLITE_FILE_READING_H

#include "sqlite/api.h"

#include <stdbool.h>

/*
 * Returns whether the xRead of the database's file can be called by several threads: it is that of
 * SQLite's own VFS for unix, and it is pread(), which leaves the file's position alone. There are
 * builds of SQLite that seek first and then read. To be asked after the file has been read at
 * least once; where it cannot be found out, false.
 */
bool clr_file_reads_in_parallel(sqlite3 *db, const char *schema);

#endif
