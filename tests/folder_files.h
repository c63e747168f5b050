/* The files of a folder. For tests. */
#ifndef CLR_TESTS_FOLDER_FILES_H
#define CLR_TESTS_FOLDER_FILES_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* Returns how many files the folder has, hidden ones too, and stores the path of the last, which
   has room for size bytes. */
static inline int folder_files(const char *folder, char *path, size_t size)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    int count = 0;

    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, size, "%.310s/%.250s", folder, entry->d_name);
        count++;
    }
    if (entries != NULL)
        closedir(entries);
    return count;
}

#endif
