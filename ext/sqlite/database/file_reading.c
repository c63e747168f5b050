#include "sqlite/database/file_reading.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Returns the position of one of this process's descriptors, or -1. */
static long long find_position(const char *descriptor)
{
    char path[64], line[128];
    long long position = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/fdinfo/%.20s", descriptor);
    file = fopen(path, "r");
    if (file == NULL)
        return -1;
    if (fgets(line, sizeof line, file) == NULL || sscanf(line, "pos: %lld", &position) != 1)
        position = -1;
    fclose(file);
    return position;
}

/* Whether all descriptors of that file, and there are some, stand at its beginning: nobody seeks.
 */
static bool stands_still(const char *name)
{
    struct stat wanted, found;
    struct dirent *entry;
    char path[64];
    bool any = false, still = true;
    DIR *folder;

    if (stat(name, &wanted) != 0)
        return false;
    folder = opendir("/proc/self/fd");
    while (folder != NULL && still && (entry = readdir(folder)) != NULL) {
        snprintf(path, sizeof path, "/proc/self/fd/%.20s", entry->d_name);
        if (entry->d_name[0] == '.' || stat(path, &found) != 0 || found.st_dev != wanted.st_dev ||
            found.st_ino != wanted.st_ino)
            continue;
        any = true;
        still = find_position(entry->d_name) == 0;
    }
    if (folder != NULL)
        closedir(folder);
    return any && still;
}

bool clr_file_reads_in_parallel(sqlite3 *db, const char *schema)
{
    const char *name = sqlite3_db_filename(db, schema);
    sqlite3_vfs *vfs = NULL;

    /* The VFS itself, where VFSNAME would be answered by whatever lies in front of it. */
    if (sqlite3_file_control(db, schema, SQLITE_FCNTL_VFS_POINTER, &vfs) != SQLITE_OK ||
        vfs == NULL || name == NULL ||
        (strcmp(vfs->zName, "unix") != 0 && strcmp(vfs->zName, "unix-excl") != 0))
        return false;
    return stands_still(name);
}

const unsigned char *clr_file_map(sqlite3_file *file, uint32_t page_size, uint32_t count)
{
    const sqlite3_io_methods *methods = file->pMethods;
    const sqlite3_int64 after = (sqlite3_int64)page_size * count;
    void *first = NULL, *last = NULL;

    if (methods->iVersion < 3 || count == 0 ||
        methods->xFetch(file, 0, (int)page_size, &first) != SQLITE_OK || first == NULL)
        return NULL;
    if (methods->xFetch(file, after, (int)page_size, &last) == SQLITE_OK && last != NULL)
        methods->xUnfetch(file, after, last);
    if (last != NULL && (uintptr_t)last - (uintptr_t)first == (uintptr_t)after)
        return first;
    methods->xUnfetch(file, 0, first);
    return NULL;
}

void clr_file_unmap(sqlite3_file *file, const unsigned char *mapped)
{
    file->pMethods->xUnfetch(file, 0, (void *)mapped);
}
