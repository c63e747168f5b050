/* Whether several threads may read a database's file at the same time, and whether they need not
   read at all. */
#ifndef CLR_SQLITE_FILE_READING_H
#define CLR_SQLITE_FILE_READING_H

#include "sqlite/api.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns whether the xRead of the database's file can be called by several threads: it is that of
 * SQLite's own VFS for unix, and it is pread(), which leaves the file's position alone. There are
 * builds of SQLite that seek first and then read. To be asked after the file has been read at
 * least once; where it cannot be found out, false.
 */
bool clr_file_reads_in_parallel(sqlite3 *db, const char *schema);

/*
 * Returns where the first count pages of a database's file are in memory, with the page after them,
 * if SQLite has all of that mapped (PRAGMA mmap_size); else NULL. The file is one of which the
 * above is true, so that its xFetch is that of SQLite's own VFS for unix, which has one mapping and
 * keeps it as it is until xUnfetch has been called. A read transaction has to be open from before
 * this call until clr_file_unmap(), which gives the pages back: to begin one may end the mapping.
 */
const unsigned char *clr_file_map(sqlite3_file *file, uint32_t page_size, uint32_t count);
void clr_file_unmap(sqlite3_file *file, const unsigned char *mapped);

#endif
