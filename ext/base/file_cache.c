#include "base/file_cache.h"

#include "base/clock.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

__extension__ typedef unsigned __int128 hash;

enum { PATH_SIZE = 1024, NAME_SIZE = 100 };

/* A file begins with it, in the order of the machine's bytes; key and content follow. */
struct header {
    char magic[8];
    uint64_t key_size, content_size;
    uint64_t checksum[2]; /* of all that is before, and all that follows */
};

static const char magic[8] = "clrfile";
static char home[PATH_SIZE];                      /* empty: the place does not follow from it */
static char parent[PATH_SIZE], folder[PATH_SIZE]; /* the first is empty: there is none */

static const char *get_environment(const char *name)
{
#ifdef __linux__
    const char *value = secure_getenv(name);
#else
    const char *value = issetugid() ? NULL : getenv(name);
#endif
    return value != NULL && value[0] != '\0' ? value : NULL;
}

void clr_file_cache_locate(void)
{
    const char *caches = get_environment("XDG_CACHE_HOME"), *user = get_environment("HOME");
    int length = 0;

    home[0] = parent[0] = '\0';
    if (caches != NULL && caches[0] == '/') {
        length = snprintf(parent, sizeof parent, "%s", caches);
    } else if (caches == NULL && user != NULL && user[0] == '/') {
        length = snprintf(parent, sizeof parent, "%s/.cache", user);
        snprintf(home, sizeof home, "%s", user);
    }
    if (length >= (int)sizeof parent ||
        snprintf(folder, sizeof folder, "%s/clreduce", parent) >= (int)sizeof folder)
        parent[0] = '\0';
}

/* FNV-1a of 128 bits (Fowler, Noll and Vo), from a hash of what is before, or from FIRST. */
#define FIRST ((hash)0x6c62272e07bb0142 << 64 | 0x62b821756295c58d)

static hash hash_bytes(hash value, const void *bytes, size_t size)
{
    const hash prime = (hash)1 << 88 | 0x13b;
    const unsigned char *byte = bytes, *end = byte + size;

    for (; byte < end; byte++)
        value = (value ^ *byte) * prime;
    return value;
}

static void make_name(char name[NAME_SIZE], const void *key, size_t key_size)
{
    const hash value = hash_bytes(FIRST, key, key_size);

    snprintf(name, NAME_SIZE, "%016" PRIx64 "%016" PRIx64, (uint64_t)(value >> 64),
             (uint64_t)value);
}

static void make_header(struct header *header, const void *key, size_t key_size,
                        const void *content, size_t size)
{
    hash value;

    memcpy(header->magic, magic, sizeof magic);
    header->key_size = key_size;
    header->content_size = size;
    value = hash_bytes(FIRST, header, offsetof(struct header, checksum));
    value = hash_bytes(hash_bytes(value, key, key_size), content, size);
    header->checksum[0] = (uint64_t)(value >> 64);
    header->checksum[1] = (uint64_t)value;
}

/* Whether a file is of that type (S_IFDIR, S_IFREG), the user's own, and nobody else's to write. */
static bool is_own(int file, mode_t type, struct stat *status)
{
    return fstat(file, status) == 0 && (status->st_mode & S_IFMT) == type &&
           status->st_uid == geteuid() && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Opens the folder. Returns -1 where it is not to be used. */
static int open_folder(void)
{
    struct stat status;
    int file;

    if (parent[0] == '\0')
        return -1;
    file = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0 && !is_own(file, S_IFDIR, &status)) {
        close(file);
        return -1;
    }
    return file;
}

static bool is_users(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && status.st_uid == geteuid();
}

/* Under sudo HOME may be another user's, who could not write to what is made there. */
static void make_folder(void)
{
    if (home[0] == '\0' || is_users(home))
        mkdir(parent, S_IRWXU);
    if (is_users(parent))
        mkdir(folder, S_IRWXU);
}

bool clr_file_cache_is_usable(void)
{
    int place = open_folder();

    if (place < 0 && parent[0] != '\0' && errno == ENOENT) {
        make_folder();
        place = open_folder();
    }
    if (place >= 0)
        close(place);
    return place >= 0;
}

static bool read_all(int file, void *bytes, size_t size)
{
    char *rest = bytes;
    ssize_t count;

    while (size > 0) {
        count = read(file, rest, size);
        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        if (count > 0) {
            rest += count;
            size -= (size_t)count;
        }
    }
    return true;
}

static bool write_all(int file, const void *bytes, size_t size)
{
    const char *rest = bytes;
    ssize_t count;

    while (size > 0) {
        count = write(file, rest, size);
        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        if (count > 0) {
            rest += count;
            size -= (size_t)count;
        }
    }
    return true;
}

/* Returns the content of a file if it is what was kept for the key, to the last bit, or NULL. */
static void *read_content(int file, const void *key, size_t key_size, size_t *size)
{
    struct header header, expected;
    struct stat status;
    char *bytes;

    if (!is_own(file, S_IFREG, &status) || !read_all(file, &header, sizeof header) ||
        header.key_size != key_size || header.content_size > CLR_FILE_CACHE_MOST ||
        (uint64_t)status.st_size != sizeof header + key_size + header.content_size)
        return NULL;
    *size = (size_t)header.content_size;
    bytes = clr_memory_alloc(key_size + *size + 1);
    if (bytes == NULL)
        return NULL;
    if (read_all(file, bytes, key_size + *size) && memcmp(bytes, key, key_size) == 0) {
        make_header(&expected, key, key_size, bytes + key_size, *size);
        if (memcmp(&header, &expected, sizeof header) == 0) {
            memmove(bytes, bytes + key_size, *size);
            return bytes;
        }
    }
    clr_memory_free(bytes);
    return NULL;
}

void *clr_file_cache_read(const void *key, size_t key_size, size_t *size)
{
    const int place = open_folder();
    void *content = NULL;
    char name[NAME_SIZE];
    int file;

    if (place < 0)
        return NULL;
    make_name(name, key, key_size);
    /* What is no file is opened without waiting for its other end. */
    file = openat(place, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(place);
    if (file >= 0) {
        content = read_content(file, key, key_size, size);
        close(file);
    }
    return content;
}

/* Returns how many bytes the files have together, and stores the oldest one's name. */
static int64_t measure(int place, char oldest[NAME_SIZE])
{
    int copy = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    struct stat status;
    int64_t total = 0;
    time_t least = 0;

    oldest[0] = '\0';
    if (entries == NULL) {
        if (copy >= 0)
            close(copy);
        return 0;
    }
    while ((entry = readdir(entries)) != NULL) {
        const size_t length = strlen(entry->d_name);
        if (fstatat(place, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode) || length >= NAME_SIZE)
            continue;
        total += status.st_size;
        if (oldest[0] == '\0' || status.st_mtime < least) {
            least = status.st_mtime;
            memcpy(oldest, entry->d_name, length + 1);
        }
    }
    closedir(entries);
    return total;
}

/* Who reads a file that goes has it open, and reads it to its end. */
static void trim(int place)
{
    char oldest[NAME_SIZE];

    while (measure(place, oldest) > CLR_FILE_CACHE_BYTES && unlinkat(place, oldest, 0) == 0)
        continue;
}

/* Makes a file of that name in the folder. Returns whether it is complete. */
static bool write_file(int place, const char *name, const void *key, size_t key_size,
                       const void *content, size_t size)
{
    int file = openat(place, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      S_IRUSR | S_IWUSR);
    struct header header;
    bool complete;

    if (file < 0)
        return false;
    make_header(&header, key, key_size, content, size);
    complete = write_all(file, &header, sizeof header) && write_all(file, key, key_size) &&
               write_all(file, content, size);
    return close(file) == 0 && complete;
}

void clr_file_cache_write(const void *key, size_t key_size, const void *content, size_t size)
{
    char name[NAME_SIZE], unfinished[NAME_SIZE + 64];
    int place;

    if (size > CLR_FILE_CACHE_MOST || key_size > CLR_FILE_CACHE_MOST)
        return;
    place = open_folder();
    if (place < 0)
        return;
    make_name(name, key, key_size);
    snprintf(unfinished, sizeof unfinished, ".%s.%ld.%" PRId64, name, (long)getpid(),
             clr_clock_ns());
    if (!write_file(place, unfinished, key, key_size, content, size) ||
        renameat(place, unfinished, place, name) != 0)
        unlinkat(place, unfinished, 0);
    else
        trim(place);
    close(place);
}
