/* clreduce-run: starts a program whose SQLite is accelerated, by a library that is loaded before
   SQLite's. */
#include "clreduce.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#define LIBRARY "libclreduce-preload.dylib"
#define VARIABLE "DYLD_INSERT_LIBRARIES"
#else
#include <elf.h>
#include <fcntl.h>
#define LIBRARY "libclreduce-preload.so"
#define VARIABLE "LD_PRELOAD"
#endif

static const char help[] =
    "Usage: clreduce-run [--explain] [--report] [--quiet] [--] PROGRAM [ARGUMENT...]\n"
    "Starts a program that uses the system's SQLite, and has clreduce answer those of its SELECTs\n"
    "that are quicker that way.\n"
    "\n"
    "  --explain   say for each statement, when the program ends, how it was run, or why not\n"
    "  --report    print a table of the statements and their times, when the program ends\n"
    "  --quiet     do not say that nothing could be accelerated\n"
    "  --version   print the version\n"
    "\n"
    "CLREDUCE_SETTINGS=\"override=off,device=host\" in the environment sets settings.\n";

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "clreduce-run: %s: %s\n", what, why);
    exit(127);
}

/* Writes the path of this program's own file; "" where that is not known. */
static void find_self(char *path, size_t size)
{
#ifdef __APPLE__
    uint32_t room = (uint32_t)size;

    if (_NSGetExecutablePath(path, &room) != 0)
        path[0] = '\0';
#else
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);

    path[length < 0 ? 0 : length] = '\0';
#endif
}

/* Writes the path of the library: beside this program, or else where it is installed. */
static void find_library(char *path, size_t size)
{
    char self[PATH_MAX], *end;

    find_self(self, sizeof self);
    end = strrchr(self, '/');
    snprintf(path, size, "%.*s/%s", end == NULL ? 0 : (int)(end - self), self, LIBRARY);
    if (end == NULL || access(path, R_OK) != 0)
        snprintf(path, size, "%s/%s", CLR_EXTENSION_FOLDER, LIBRARY);
    if (access(path, R_OK) != 0)
        fail(path, strerror(errno));
    if (strpbrk(path, ": ") != NULL)
        fail(path, "the path must have no space and no colon, which the linker takes for its end");
}

/* Puts a library behind those that are loaded before others already. */
static void add_library(const char *path)
{
    const char *there = getenv(VARIABLE);
    const bool is_alone = there == NULL || *there == '\0';
    const size_t size = strlen(path) + (is_alone ? 0 : strlen(there)) + 2;
    char *all = malloc(size);

    if (all == NULL)
        fail("malloc", strerror(errno));
    snprintf(all, size, "%s%s%s", is_alone ? "" : there, is_alone ? "" : ":", path);
    setenv(VARIABLE, all, 1);
#ifdef __APPLE__
    setenv("DYLD_FORCE_FLAT_NAMESPACE", "1", 1);
#endif
    free(all);
}

#ifndef __APPLE__
/* Whether a file is a program that no library can be loaded into: an ELF file of 64 bits, as this
   one is, without a dynamic linker. */
static bool is_static(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    bool result = false;
    Elf64_Ehdr header;
    Elf64_Phdr part;
    int i;

    if (file >= 0 && pread(file, &header, sizeof header, 0) == (ssize_t)sizeof header &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64) {
        result = true;
        for (i = 0; i < header.e_phnum && result; i++)
            result = pread(file, &part, sizeof part,
                           (off_t)(header.e_phoff + (Elf64_Off)i * header.e_phentsize)) ==
                         (ssize_t)sizeof part &&
                     part.p_type != PT_INTERP;
    }
    if (file >= 0)
        close(file);
    return result;
}

/* Finds a program as execvp() does. */
static void find_program(const char *name, char *path, size_t size)
{
    const char *folders = getenv("PATH"), *end;

    snprintf(path, size, "%s", name);
    for (; strchr(name, '/') == NULL && folders != NULL; folders = end + 1) {
        end = folders + strcspn(folders, ":");
        snprintf(path, size, "%.*s/%s", (int)(end - folders), folders, name);
        if (access(path, X_OK) == 0 || *end == '\0')
            break;
    }
}

static void warn_of_static(const char *name)
{
    char path[PATH_MAX];

    find_program(name, path, sizeof path);
    if (is_static(path))
        fprintf(stderr,
                "clreduce-run: nothing is accelerated: %s is linked statically, and no library can "
                "be loaded into it. In C use clreduce_prepare_v2()\n",
                path);
}
#else
static void warn_of_static(const char *name)
{
    (void)name;
}
#endif

int main(int count, char **arguments)
{
    char library[PATH_MAX + sizeof LIBRARY], words[64];
    bool explain = false, report = false, quiet = false;
    int i;

    for (i = 1; i < count && arguments[i][0] == '-'; i++) {
        if (strcmp(arguments[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(arguments[i], "--explain") == 0) {
            explain = true;
        } else if (strcmp(arguments[i], "--report") == 0) {
            report = true;
        } else if (strcmp(arguments[i], "--quiet") == 0) {
            quiet = true;
        } else if (strcmp(arguments[i], "--help") == 0) {
            fputs(help, stdout);
            return 0;
        } else if (strcmp(arguments[i], "--version") == 0) {
            puts("clreduce-run " CLREDUCE_VERSION);
            return 0;
        } else {
            fail(arguments[i], "there is no such option; --help lists them");
        }
    }
    if (i >= count) {
        fputs(help, stderr);
        return 127;
    }
    find_library(library, sizeof library);
    add_library(library);
    snprintf(words, sizeof words, "%ld%s%s%s", (long)getpid(), explain ? " explain" : "",
             report ? " report" : "", quiet ? " quiet" : "");
    setenv("CLREDUCE_RUN", words, 1);
    if (!quiet)
        warn_of_static(arguments[i]);
    execvp(arguments[i], &arguments[i]);
    fail(arguments[i], strerror(errno));
    return 127;
}
