#include "base/system.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>
#include <windows.h>

/* ---- Memory. */

uint64_t clr_system_memory(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};

    return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : 0;
}

void *clr_system_map(size_t size)
{
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void clr_system_unmap(void *area, size_t size)
{
    (void)size;
    VirtualFree(area, 0, MEM_RELEASE);
}

/* free() does not take what _aligned_malloc() returns. */
void *clr_system_alloc_lines(size_t size)
{
    return malloc(size);
}

void clr_system_populate(void *area, size_t size)
{
    (void)area;
    (void)size;
}

/* ---- Processors, threads and the process. */

/* Zeros: the process runs in several groups of processors. */
int clr_system_processors(void)
{
    DWORD_PTR process = 0, all;

    if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &all) || process == 0)
        return (int)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return __builtin_popcountll(process);
}

/* Detached from its start: of a thread that ends while it is being detached the library of threads
   frees twice what it knows, and then other threads wait for ever. */
int clr_system_start_thread(void *(*run)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int error;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    error = pthread_create(&thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return error;
}

/* The library of threads knows no other clock. */
void clr_system_cond_init(pthread_cond_t *condition)
{
    pthread_cond_init(condition, NULL);
}

struct timespec clr_system_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return time;
}

void clr_system_at_exit(void (*function)(void))
{
    (void)function;
}

bool clr_system_guard_exit(void (*function)(void))
{
    (void)function;
    return false;
}

/* ---- Libraries. */

const char *const clr_system_opencl[] = {"OpenCL.dll", NULL};

const char clr_system_opencl_advice[] = "Install the driver of your device, which brings it";

/* Drivers leave no other trace than the library. */
bool clr_system_may_have_device(void)
{
    return true;
}

/* Not from the current folder, nor from those of PATH: anybody may put a library there. */
void *clr_system_library(const char *name, const char **error)
{
    static _Thread_local char text[64];
    const HMODULE library = LoadLibraryExA(name, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);

    if (library == NULL) {
        snprintf(text, sizeof text, "%.32s: Windows' error %lu", name, GetLastError());
        *error = text;
    }
    return library;
}

void *clr_system_function(void *library, const char *name)
{
    return (void *)(uintptr_t)GetProcAddress(
        library == NULL ? GetModuleHandleW(NULL) : (HMODULE)library, name);
}

/* ---- Files. */

bool clr_file_facts_of(const char *name, struct clr_file_facts *facts)
{
    (void)name;
    (void)facts;
    return false;
}

intptr_t clr_file_pin(const char *name, void *handle)
{
    (void)name;
    return handle == NULL
               ? CLR_NO_PIN
               : (intptr_t)ReOpenFile(handle, FILE_READ_ATTRIBUTES,
                                      FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, 0);
}

void clr_file_unpin(intptr_t pin)
{
    CloseHandle((HANDLE)pin);
}

const bool clr_file_pins_stay = false;

/* Stores the identifier that this machine has given to the file's volume. A serial number would be
   that of a copied disk as well. Other machines' volumes have none, and their numbers of files are
   not to be relied on. */
static bool find_volume(HANDLE file, uint64_t volume[2])
{
    enum { LONGEST = 32768, DIGITS = 32 };
    static const wchar_t prefix[] = L"\\\\?\\Volume{";
    wchar_t *path = clr_memory_alloc(LONGEST * sizeof *path);
    const wchar_t *digit = path;
    int count = 0;

    volume[0] = volume[1] = 0;
    if (path != NULL &&
        GetFinalPathNameByHandleW(file, path, LONGEST, VOLUME_NAME_GUID) < LONGEST &&
        wcsncmp(path, prefix, wcslen(prefix)) == 0) {
        for (digit = path + wcslen(prefix); count < DIGITS && (*digit == L'-' || iswxdigit(*digit));
             digit++) {
            if (*digit != L'-') {
                uint64_t *half = &volume[count++ / (DIGITS / 2)];
                *half = *half << 4 |
                        (uint64_t)(*digit <= L'9' ? *digit - L'0' : (*digit | 32) - L'a' + 10);
            }
        }
    }
    clr_memory_free(path);
    return count == DIGITS;
}

/* FILETIME and its kin count units of 100 ns. */
static int64_t to_ns(LARGE_INTEGER time)
{
    return time.QuadPart * 100;
}

bool clr_file_facts_of_pin(intptr_t pin, struct clr_file_facts *facts)
{
    const HANDLE file = (HANDLE)pin;
    FILE_ID_INFO id;
    FILE_BASIC_INFO basic;
    FILE_STANDARD_INFO standard;

    _Static_assert(sizeof id.FileId == 2 * sizeof facts->identity[0], "two words");
    if (!GetFileInformationByHandleEx(file, FileIdInfo, &id, sizeof id) ||
        !GetFileInformationByHandleEx(file, FileBasicInfo, &basic, sizeof basic) ||
        !GetFileInformationByHandleEx(file, FileStandardInfo, &standard, sizeof standard) ||
        !find_volume(file, facts->identity))
        return false;
    memcpy(facts->identity + 2, &id.FileId, sizeof id.FileId);
    facts->links = standard.NumberOfLinks;
    facts->size = standard.EndOfFile.QuadPart;
    facts->written_ns = to_ns(basic.LastWriteTime);
    facts->changed_ns = to_ns(basic.ChangeTime);
    return true;
}

int64_t clr_file_now(void)
{
    FILETIME now;

    GetSystemTimeAsFileTime(&now);
    return to_ns(
        (LARGE_INTEGER){.LowPart = now.dwLowDateTime, .HighPart = (LONG)now.dwHighDateTime});
}

/* SQLite has files open there that remember where the last read has been, however it was done. */
bool clr_file_stands_still(const char *name)
{
    (void)name;
    return false;
}

uint64_t clr_file_most(void)
{
    return UINT64_MAX;
}
