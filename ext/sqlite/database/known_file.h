/*
 * Database files that connections of this process have open, known by device and inode: what was
 * read from one through a connection is what every other connection to it reads.
 *
 * The proof. SQLite's own VFS for unix, with its locks, opened the file, and says (HAS_MOVED) that
 * the inode that it opened is the one at the file's name, before and after which that name leads to
 * one device and inode. From then on a descriptor of ours keeps the inode from being given to
 * another file. It is one that was opened with O_PATH: closing any other descriptor of a file
 * drops the locks that SQLite holds on it (fcntl(2)). Where there is no O_PATH no file is known.
 *
 * What was read stays true only while somebody has the file open: then nobody but SQLite's users
 * writes to it or to its log. Nothing tells when SQLite closes a file: DETACH,
 * sqlite3_deserialize() and PRAGMA journal_mode, which ends the log, do so as well as
 * sqlite3_close(). So the handle itself does: its methods are a copy of those that it had, with
 * another xClose.
 */
#ifndef CLR_SQLITE_KNOWN_FILE_H
#define CLR_SQLITE_KNOWN_FILE_H

#include "sqlite/api.h"

#include <stdbool.h>
#include <stdint.h>

struct clr_known_file;

/* A handle by which SQLite has a known file open, or the log of one. */
struct clr_open_file;

/*
 * Returns the handle of a connection's database, whose file is known from now on, with a reference;
 * NULL if it can't be proved which file it is, or without memory. Any thread that may use the
 * connection may call this and what follows.
 */
struct clr_open_file *clr_open_file_find(sqlite3 *db, const char *schema, sqlite3_file *handle);

/* The same, of the handle of a known file's log. */
struct clr_open_file *clr_open_file_find_log(struct clr_known_file *file, sqlite3_file *log);

/* Returns the file that the handle is of, if it is this one, and SQLite has had it open since it
   was found; else NULL. So it is for open == NULL, and in a child after fork() for the handles of
   its parent's connections, which hold no locks there. */
struct clr_known_file *clr_open_file_of(const struct clr_open_file *open,
                                        const sqlite3_file *handle);

struct clr_open_file *clr_open_file_retain(struct clr_open_file *open);
void clr_open_file_release(struct clr_open_file *open);

/* Sees that a child after fork() finds the files as they were. Whoever has a lock of its own while
   it calls the other functions calls this before it sees to the same for that lock. */
void clr_known_file_heed_forks(void);

/* Has a function called, which others may call at the same time, whenever the last handle of a file
   is about to be closed, to which it gets no reference. */
void clr_known_file_notify(void (*closed)(struct clr_known_file *file));

struct clr_known_file *clr_known_file_retain(struct clr_known_file *file);
void clr_known_file_release(struct clr_known_file *file);

/* Returns how often nobody has had the file's log open since the file is known: then the log may
   have been restored from a copy, with the same salts and other frames. */
int64_t clr_known_file_log_closings(const struct clr_known_file *file);

/* Returns since when nobody has had it open, in ns of clr_clock_ns(); 0: somebody has. */
int64_t clr_known_file_closed(const struct clr_known_file *file);

/*
 * What changes whenever the file is written to, by whomever: its size, the times of its latest
 * changes, and how often nobody has had it open so soon after a change that another one might have
 * the same times. Zeros if they can't be read.
 */
enum { CLR_FILE_STATE_SIZE = 48 };
void clr_known_file_state(const struct clr_known_file *file,
                          unsigned char state[CLR_FILE_STATE_SIZE]);

/* Whether the file has no name any more. */
bool clr_known_file_is_unlinked(const struct clr_known_file *file);

#endif
