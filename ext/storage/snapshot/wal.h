/* The write-ahead log: which frame holds a page. File format, section 4. */
#ifndef CLR_STORAGE_WAL_H
#define CLR_STORAGE_WAL_H

#include "base/status.h"
#include "engine/worker/team.h"
#include "storage/format/page_set.h"
#include "storage/format/source.h"
#include "storage/format/wal_map.h"

/*
 * Makes the map one of the first `last` frames of the log: reads the headers of those alone that it
 * has not, if it is of fewer frames of the same log, and of all else. source needs its read
 * function, page_size and page_count; salts are the two words of the snapshot's wal-index header,
 * in the byte order in which the log's file has them. The log's magic, page size and salts, and
 * each frame's salts, are compared: a mismatch is CLR_INVALID, a failing read CLR_IO with the
 * result code in error, no memory CLR_NOMEM, a stop by the watch, which may be NULL, CLR_STOPPED;
 * the map is of no log then. The last frame has to be the commit that made the database page_count
 * pages long. With last 0 the log is not read. Pages beyond page_count can be in the map, as the
 * database may have shrunk.
 */
enum clr_code clr_wal_map_read(struct clr_wal_map *map, const struct clr_source *source,
                               const unsigned char salts[CLR_WAL_SALTS], uint32_t last,
                               const struct clr_watch *watch, struct clr_status *status);

/*
 * Finds the pages that frames first to last of the log name; with source, salts, watch and checks
 * as above, but the last frame's size is not looked at. Stores a set that can have source's
 * page_count pages in *changes, to be freed with clr_page_set_free().
 */
enum clr_code clr_wal_changes(const struct clr_source *source,
                              const unsigned char salts[CLR_WAL_SALTS], uint32_t first,
                              uint32_t last, const struct clr_watch *watch,
                              struct clr_page_set **changes, struct clr_status *status);

#endif
