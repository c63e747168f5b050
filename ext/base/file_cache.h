/*
 * Files in which the processes of a user keep what took long to make: each has a key, of any bytes,
 * and the content that was made for it. They lie in the folder "clreduce" of $XDG_CACHE_HOME, or of
 * $HOME/.cache where that is not set (XDG Base Directory Specification).
 *
 * What comes out of it may be run as code. So the folder and its files are used only where they
 * belong to the user and nobody else may write to them; a file counts only with the whole key and a
 * checksum; and it gets its name when it is complete. Nothing is locked, and nothing fails: where
 * something is not as it should be nothing is found, and nothing is kept.
 */
#ifndef CLR_BASE_FILE_CACHE_H
#define CLR_BASE_FILE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* What all files together take at most, in bytes; the oldest ones go. Of one file it is a part. */
enum { CLR_FILE_CACHE_BYTES = 64 << 20, CLR_FILE_CACHE_MOST = CLR_FILE_CACHE_BYTES / 4 };

/*
 * Looks in the environment where the folder is: a thread of the application's calls it, before the
 * functions below are used by others, as getenv() is not safe beside setenv(). There is none,
 * and was none if this is never called, where neither variable has an absolute path, and in a
 * program that has more rights than its user, as by setuid.
 */
void clr_file_cache_locate(void);

/* Returns whether the folder may be used. Makes it, if it is lacking. */
bool clr_file_cache_is_usable(void);

/* Returns the content that was kept for a key, *size bytes, for the caller to free with
   clr_memory_free(); or NULL. */
void *clr_file_cache_read(const void *key, size_t key_size, size_t *size);

/* Keeps a content for a key, in place of what there was, if that can be done. The thread has
   signals blocked: SIGXFSZ is one, where the user's files are limited. */
void clr_file_cache_write(const void *key, size_t key_size, const void *content, size_t size);

#endif
