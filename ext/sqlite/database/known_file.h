/*
 * Database files that connections of this process have open, known by device and inode: what was
 * read from one through a connection is what every other connection to it reads.
 *
 * The proof. SQLite's own VFS for unix, with its locks, opened the file, and says (HAS_MOVED) that
 * the inode that it opened is the one at the file's name, before and after which that name leads to
 * one device and inode. From then on a descriptor of ours keeps the inode from being given to
 * another file. It is one that was opened with O_PATH: closing any other descriptor of a file
 * drops the locks that SQLite holds on it (fcntl(2)). Where there is no O_PATH no file is known.
 */
#ifndef CLR_SQLITE_KNOWN_FILE_H
#define CLR_SQLITE_KNOWN_FILE_H

#include "sqlite/api.h"

#include <stdbool.h>
#include <stdint.h>

struct clr_known_file;

/*
 * Returns the file of a connection's database, whose handle is given, with a reference and as one
 * that is open once more; NULL if it can't be proved which one it is, or without memory. Any thread
 * may call this and what follows.
 */
struct clr_known_file *clr_known_file_open(sqlite3 *db, const char *schema, sqlite3_file *handle);

/* Takes note that a connection does not have it open any more, and drops the reference. NULL is
   fine. */
void clr_known_file_close(struct clr_known_file *file);

/* Sees that a child after fork() finds the files as they were. Whoever has a lock of its own while
   it calls the other functions calls this before it sees to the same for that lock. */
void clr_known_file_heed_forks(void);

/* Has a function called, which others may call at the same time, whenever the last connection has
   closed a file, to which it gets no reference. */
void clr_known_file_notify(void (*closed)(struct clr_known_file *file));

struct clr_known_file *clr_known_file_retain(struct clr_known_file *file);
void clr_known_file_release(struct clr_known_file *file);

/* Returns how often the last connection has closed it: whatever was read before that may have been
   replaced since, its log among it. */
int64_t clr_known_file_closings(const struct clr_known_file *file);

/* Returns since when no connection has had it open, in ns of clr_clock_ns(); 0: one has. */
int64_t clr_known_file_closed(const struct clr_known_file *file);

/*
 * What changes whenever the file is written to, by whomever: its size and the times of its latest
 * changes. Zeros if they can't be read.
 */
enum { CLR_FILE_STATE_SIZE = 40 };
void clr_known_file_state(const struct clr_known_file *file,
                          unsigned char state[CLR_FILE_STATE_SIZE]);

/* Whether the latest change is long enough ago that another one would show in the state: the
   system's clock for these times has ticked since. */
bool clr_known_file_is_settled(const struct clr_known_file *file);

#endif
