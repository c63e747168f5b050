/* Replays the fuzzer's corpus: no input may crash a load. */
#include "tap.h"

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* As many files as there were when this was written. */
enum { LEAST = 13 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void replay(const char *folder, const char *name)
{
    static unsigned char data[1 << 20];
    char path[4096];
    FILE *file;
    size_t size;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    TAP_NEED(file != NULL, "cannot read %s", path);
    size = fread(data, 1, sizeof data, file);
    fclose(file);
    /* What goes wrong ends the program; a sanitizer sees more of it. */
    tap_ok(LLVMFuzzerTestOneInput(data, size) == 0 && size > 2, "%s, %d bytes", name, (int)size);
}

TAP_TEST(all_tests)
{
    const char *sources = getenv("CLREDUCE_SRCDIR");
    char folder[2048];
    struct dirent *entry;
    int replayed = 0;
    DIR *files;

    snprintf(folder, sizeof folder, "%s/tests/storage/corpus", sources != NULL ? sources : ".");
    files = opendir(folder);
    TAP_NEED(files != NULL, "cannot list %s", folder);
    while ((entry = readdir(files)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        replay(folder, entry->d_name);
        replayed++;
    }
    closedir(files);
    tap_ok(replayed >= LEAST, "%d files of the corpus, of %d at least", replayed, LEAST);
}
