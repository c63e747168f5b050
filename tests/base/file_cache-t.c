/*
 * The files that processes of a user share: what was kept comes back to the last bit, or not at
 * all; what others might have written is not read; and where nothing can be kept, nothing is.
 */
#include "base/file_cache.h"

#include "base/memory.h"
#include "batch.h"
#include "child.h"
#include "folder_files.h"
#include "random.h"

#include "tap.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { PATH_SIZE = 300, LARGE = 12 << 20, LARGE_FILES = 6, LIMIT_S = 120, ROUNDS = 400 };

static char home[PATH_SIZE], folder[PATH_SIZE + 20];

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

/* An empty home, whose folder of caches is yet to be made. */
static void begin(void)
{
    const char *parent = getenv("TMPDIR");

    snprintf(home, sizeof home, "%s/clreduce-files-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(home) == NULL)
        tap_bail("%s: %s", home, strerror(errno));
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", home, 1);
    snprintf(folder, sizeof folder, "%s/.cache/clreduce", home);
    clr_file_cache_locate();
}

static void end(void)
{
    nftw(home, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void keep(const char *key, const char *content)
{
    clr_file_cache_write(key, strlen(key), content, strlen(content));
}

/* Whether what is there for a key is that text; with NULL: whether there is nothing. */
static bool has(const char *key, const char *content)
{
    size_t size = 0;
    char *found = clr_file_cache_read(key, strlen(key), &size);
    bool same = content == NULL
                    ? found == NULL
                    : found != NULL && size == strlen(content) && memcmp(found, content, size) == 0;

    clr_memory_free(found);
    return same;
}

TAP_TEST(test_unlocated)
{
    tap_ok(!clr_file_cache_is_usable() && has("key", NULL), "nothing is used that is not located");
}

TAP_TEST(test_keeping)
{
    char path[2 * PATH_SIZE];
    struct stat status;

    begin();
    tap_ok(has("key", NULL), "nothing is there at first");
    tap_ok(folder_files(folder, path, sizeof path) == 0, "and reading makes nothing");
    tap_ok(clr_file_cache_is_usable(), "the folders are made");
    keep("key", "what is kept");
    tap_ok(has("key", "what is kept"), "what is kept comes back");
    tap_ok(has("other", NULL) && has("ke", NULL) && has("key2", NULL), "for its key alone");
    keep("key", "what is kept later");
    tap_ok(has("key", "what is kept later"), "the last one counts");
    keep("", "");
    tap_ok(has("", ""), "an empty content of an empty key");
    tap_is_int64(folder_files(folder, path, sizeof path), 2,
                 "there is a file for each key, and nothing else");
    tap_ok(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600, "for the user alone");
    tap_ok(stat(folder, &status) == 0 && (status.st_mode & 0777) == 0700, "and so is the folder");
    end();
}

/* Whether a file with those bytes is as good as none, and is replaced. */
static bool is_refused(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    bool refused;

    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        tap_bail("%s: %s", path, strerror(errno));
    refused = has("key", NULL);
    keep("key", "content");
    return refused && has("key", "content");
}

TAP_TEST(test_damage)
{
    char path[2 * PATH_SIZE], whole[1000], damaged[1000];
    size_t size, i;
    FILE *file;

    begin();
    clr_file_cache_is_usable();
    keep("key", "content");
    folder_files(folder, path, sizeof path);
    file = fopen(path, "r");
    if (file == NULL)
        tap_bail("%s: %s", path, strerror(errno));
    size = fread(whole, 1, sizeof whole - 1, file);
    fclose(file);
    batch_begin();
    for (i = 0; i < 8 * size; i++) {
        memcpy(damaged, whole, size);
        damaged[i / 8] ^= (char)(1 << i % 8);
        batch_ok(is_refused(path, damaged, size), "bit %zu", i);
    }
    batch_end("each bit of a file counts");
    batch_begin();
    for (i = 0; i < size; i++)
        batch_ok(is_refused(path, whole, i), "%zu bytes", i);
    memcpy(damaged, whole, size);
    damaged[size] = '\0';
    batch_ok(is_refused(path, damaged, size + 1), "a byte more");
    batch_end("and so does its length");
    tap_ok(!is_refused(path, whole, size), "the file as it was is good");
    end();
}

TAP_TEST(test_owners)
{
    char path[2 * PATH_SIZE], elsewhere[PATH_SIZE + 20];

    begin();
    clr_file_cache_is_usable();
    keep("key", "content");
    folder_files(folder, path, sizeof path);
    chmod(path, 0620);
    tap_ok(has("key", NULL), "a file that the group may write to is not read");
    chmod(path, 0602);
    tap_ok(has("key", NULL), "nor one that others may");
    snprintf(elsewhere, sizeof elsewhere, "%s/file", home);
    chmod(path, 0600);
    if (rename(path, elsewhere) != 0 || symlink(elsewhere, path) != 0)
        tap_bail("%s: %s", elsewhere, strerror(errno));
    tap_ok(has("key", NULL), "nor a link");
    remove(path);
    if (mkfifo(path, 0600) != 0)
        tap_bail("%s: %s", path, strerror(errno));
    tap_ok(has("key", NULL), "nor a pipe, for whose other end nobody waits");
    keep("key", "content");
    tap_ok(has("key", "content"), "which is replaced");
    chmod(folder, 0770);
    tap_ok(has("key", NULL) && !clr_file_cache_is_usable(), "a folder of the group's is not used");
    chmod(folder, 0707);
    tap_ok(has("key", NULL) && !clr_file_cache_is_usable(), "nor one of everybody's");
    chmod(folder, 0700);
    tap_ok(has("key", "content"), "but one of one's own");
    remove(elsewhere);
    if (rename(folder, elsewhere) != 0 || symlink(elsewhere, folder) != 0)
        tap_bail("%s: %s", elsewhere, strerror(errno));
    tap_ok(has("key", NULL) && !clr_file_cache_is_usable(), "nor a link to one");
    if (geteuid() == 0 && chown(elsewhere, 65534, 65534) == 0) {
        remove(folder);
        rename(elsewhere, folder);
        tap_ok(has("key", NULL) && !clr_file_cache_is_usable(), "nor another user's");
    } else {
        tap_skip(1, "only root can give files to another user");
    }
    end();
}

/* Where there is nothing to write to, or it is another user's. */
static bool keeps_nothing(void)
{
    bool usable = clr_file_cache_is_usable();

    keep("key", "content");
    return !usable && has("key", NULL);
}

/* As somebody else than root, to whom everything is open. */
static void use_read_only_home(void)
{
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
        exit(EXIT_SUCCESS);
    child_ok(keeps_nothing(), "nothing is kept");
}

TAP_TEST(test_places)
{
    char path[PATH_SIZE + 20], longest[5000];

    begin();
    snprintf(path, sizeof path, "%s/caches", home);
    setenv("XDG_CACHE_HOME", path, 1);
    clr_file_cache_locate();
    clr_file_cache_is_usable();
    keep("key", "content");
    snprintf(folder, sizeof folder, "%.200s/clreduce", path);
    tap_ok(has("key", "content") && access(folder, F_OK) == 0, "XDG_CACHE_HOME says where");
    setenv("XDG_CACHE_HOME", "relative", 1);
    clr_file_cache_locate();
    tap_ok(keeps_nothing() && access("relative", F_OK) != 0, "not by a relative path");
    setenv("XDG_CACHE_HOME", "", 1);
    unsetenv("HOME");
    clr_file_cache_locate();
    tap_ok(keeps_nothing(), "nowhere without HOME");
    setenv("HOME", "relative", 1);
    clr_file_cache_locate();
    tap_ok(keeps_nothing(), "nor with a relative one");
    memset(longest, '/', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    setenv("HOME", longest, 1);
    clr_file_cache_locate();
    tap_ok(keeps_nothing(), "nor with one that is too long");
    setenv("HOME", "/dev/null", 1);
    clr_file_cache_locate();
    tap_ok(keeps_nothing(), "nor where there can be no folder");
    chmod(home, 0555);
    setenv("HOME", home, 1);
    clr_file_cache_locate();
    tap_ok(child_run(use_read_only_home, LIMIT_S), "nor in a home that is read-only");
    chmod(home, 0700);
    snprintf(path, sizeof path, "%s/.cache", home);
    if (geteuid() == 0 && chown(home, 65534, 65534) == 0)
        tap_ok(keeps_nothing() && access(path, F_OK) != 0, "nor in another user's, by root");
    else
        tap_skip(1, "only root can give files to another user");
    end();
}

/* No room: the file ends at a limit, as it would at the end of a disk. */
static void write_beyond_limit(void)
{
    struct rlimit limit = {100, 100};
    char path[2 * PATH_SIZE];
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    setrlimit(RLIMIT_FSIZE, &limit);
    keep("new",
         "so long a content that it does not fit into the hundred bytes that are there for it,"
         " with its key and all else");
    child_ok(has("new", NULL) && has("key", "content"), "nothing is kept, and nothing is lost");
    child_ok(folder_files(folder, path, sizeof path) == 1, "and nothing is left");
}

TAP_TEST(test_no_room)
{
    char *content = clr_memory_alloc_zero(CLR_FILE_CACHE_MOST + 1);

    if (content == NULL)
        tap_bail("no memory");
    begin();
    clr_file_cache_is_usable();
    keep("key", "content");
    tap_ok(child_run(write_beyond_limit, LIMIT_S), "where there is no room");
    clr_file_cache_write("key", 3, content, CLR_FILE_CACHE_MOST + 1);
    tap_ok(has("key", "content"), "what is too large is not kept");
    clr_memory_fail_after(0);
    tap_ok(has("key", NULL), "without memory nothing is found");
    clr_memory_fail_after(-1);
    clr_memory_free(content);
    end();
}

/* The oldest go, also while they are read. */
TAP_TEST(test_total)
{
    char *content = clr_memory_alloc_zero(LARGE), path[2 * PATH_SIZE], key[20];
    size_t size;
    int i, first = -1;

    if (content == NULL)
        tap_bail("no memory");
    begin();
    clr_file_cache_is_usable();
    for (i = 0; i < LARGE_FILES; i++) {
        const struct timespec times[2] = {{1000000 + i, 0}, {1000000 + i, 0}};
        DIR *entries = opendir(folder);
        const struct dirent *entry;
        snprintf(key, sizeof key, "key %d", i);
        clr_file_cache_write(key, strlen(key), content, LARGE);
        /* Those from before keep the times that they were given. */
        while (entries != NULL && (entry = readdir(entries)) != NULL) {
            struct stat status;
            snprintf(path, sizeof path, "%.310s/%.250s", folder, entry->d_name);
            if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_mtime > 2000000) {
                utimensat(AT_FDCWD, path, times, 0);
                if (first < 0)
                    first = open(path, O_RDONLY);
            }
        }
        closedir(entries);
    }
    tap_is_int64(folder_files(folder, path, sizeof path), CLR_FILE_CACHE_BYTES / LARGE,
                 "all together have a limit");
    tap_ok(has("key 0", NULL), "the oldest one goes");
    for (i = 1; i < LARGE_FILES; i++) {
        char *found;
        snprintf(key, sizeof key, "key %d", i);
        found = clr_file_cache_read(key, strlen(key), &size);
        tap_ok(found != NULL && size == LARGE, "number %d stays", i);
        clr_memory_free(found);
    }
    tap_ok(first >= 0 && lseek(first, 0, SEEK_END) > LARGE &&
               pread(first, content, LARGE, 0) == LARGE,
           "who reads it reads it to its end");
    close(first);
    clr_memory_free(content);
    end();
}

/* Two processes that write the same keys, and read them: a content is one of theirs, and whole. */
static void write_and_read(void)
{
    static char content[50000];
    char key[20];
    int i;

    for (i = 0; i < ROUNDS; i++) {
        size_t size = 0, j;
        char *found;
        snprintf(key, sizeof key, "key %d", (int)random_below(3));
        memset(content, (int)(getpid() % 50 + i % 2), sizeof content);
        clr_file_cache_write(key, strlen(key), content, sizeof content - random_below(1000));
        found = clr_file_cache_read(key, strlen(key), &size);
        for (j = 1; j < size && found[j] == found[0]; j++)
            ;
        child_ok(found != NULL && j == size, "a content is there, and whole");
        clr_memory_free(found);
    }
}

TAP_TEST(test_processes)
{
    char path[2 * PATH_SIZE];
    pid_t children[2];
    bool passed;

    begin();
    clr_file_cache_is_usable();
    children[0] = child_start(write_and_read, LIMIT_S);
    children[1] = child_start(write_and_read, LIMIT_S);
    write_and_read();
    passed = child_wait(children[0]);
    passed = child_wait(children[1]) && passed && child_failures == 0;
    tap_ok(passed, "three processes, one the parent of the others, at once");
    tap_is_int64(folder_files(folder, path, sizeof path), 3, "leave the files alone");
    end();
}
