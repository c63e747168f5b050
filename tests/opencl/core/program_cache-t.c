/*
 * Programs that are kept on disk: another process has the same program without compiling it, and
 * whatever is wrong with a file, the program is compiled. A CPU device is taken for a GPU here, as
 * programs of CPU devices are not kept.
 */
#include "opencl/core/build.c"

#include "base/file_cache.h"
#include "base/memory.h"
#include "base/settings.h"
#include "child.h"
#include "folder_files.h"
#include "opencl/core/device.h"
#include "opencl/devices.h"
#include "opencl/reduction/reducer.h"

#include "tap.h"

#include <ftw.h>
#include <sys/stat.h>

enum { PATH_SIZE = 300 };

static const char *text = "__kernel void one(__global int *x)\n{\n    *x = NUMBER;\n}\n";
static const char *const names[] = {"one", "two"};

static struct clr_device_info info;
static struct clr_device *device;
static char cache[PATH_SIZE], folder[PATH_SIZE + 20];

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

/* Where programs are kept from now on: nowhere, if the path is relative. */
static void keep_in(const char *path)
{
    setenv("XDG_CACHE_HOME", path, 1);
    clr_file_cache_locate();
}

/* Whether the program with those options writes that number; kernels: how many it should have. */
static bool writes(const char *options, int kernels, cl_int number)
{
    const struct clr_build build = {1, &text, options, kernels, names};
    const size_t one = 1;
    struct clr_status status;
    cl_command_queue queue;
    cl_kernel made[2];
    cl_mem buffer;
    cl_int found = 0, error;
    char *log;

    clr_status_clear(&status);
    if (clr_build_kernels(&build, device->context, &info, made, &log, &status) != CLR_OK) {
        clr_memory_free(log);
        return false;
    }
    queue = clCreateCommandQueue(device->context, info.id, 0, &error);
    buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE, sizeof found, NULL, &error);
    clSetKernelArg(made[0], 0, sizeof buffer, (const void *)&buffer);
    clEnqueueNDRangeKernel(queue, made[0], 1, NULL, &one, &one, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof found, &found, 0, NULL, NULL);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    while (kernels > 0)
        clReleaseKernel(made[--kernels]);
    return found == number;
}

/* Whether that is so, with so many programs taken from disk. */
static bool writes_with(const char *options, cl_int number, int taken)
{
    const int64_t before = clr_programs_taken();

    return writes(options, 1, number) && clr_programs_taken() - before == taken;
}

static void open_device(void)
{
    struct clr_status status;

    clr_status_clear(&status);
    clr_device_open(&info, &device, &status);
    devices_bail_on(&status, "clr_device_open");
}

/* In another process: the program is there, or it is compiled. Returns its exit status. */
static int use_once(const char *taken)
{
    keep_in(getenv("XDG_CACHE_HOME"));
    open_device();
    return writes_with("-DNUMBER=16", 16, atoi(taken)) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Starts it, as forking alone is not for processes whose drivers have threads. */
static pid_t start_another(const char *taken)
{
    pid_t child = fork();

    if (child == 0) {
        execl("/proc/self/exe", "program_cache-t", taken, (char *)NULL);
        _exit(127);
    }
    return child;
}

static void test_processes(void)
{
    pid_t first, second;
    bool passed;

    if (access("/proc/self/exe", X_OK) != 0) {
        tap_skip(2, "a process cannot be started again");
        return;
    }
    first = start_another("0");
    second = start_another("0");
    passed = child_wait(first);
    tap_ok(child_wait(second) || passed, "of two processes at once one or both compile");
    tap_ok(child_wait(start_another("1")), "a third one need not");
}

/* The content that is kept for the program with those options becomes another one, whole. */
static void replace_content(const char *options, const char *content, size_t size)
{
    struct program_key key;

    make_key(&key, &info, options, &text, 1);
    if (key.bytes == NULL)
        tap_bail("no key");
    clr_file_cache_write(key.bytes, key.size, content, size);
    clr_memory_free(key.bytes);
}

static void test_files(void)
{
    char path[2 * PATH_SIZE];
    int before = folder_files(folder, path, sizeof path);
    FILE *file;

    tap_ok(writes_with("-DNUMBER=17", 17, 0), "a program is compiled");
    tap_is_int64(folder_files(folder, path, sizeof path), before + 1, "and kept");
    tap_ok(writes_with("-DNUMBER=17", 17, 1), "the next one comes from there");
    tap_ok(!writes("-DNUMBER=17", 2, 17), "but not with a kernel that its text does not have");
    tap_ok(writes_with("-DNUMBER=19", 19, 0), "one with other options is another one");
    tap_ok(!writes("-DNUMBER=(", 1, 0) && folder_files(folder, path, sizeof path) == before + 2,
           "one with errors is not kept");
    file = fopen(path, "r+");
    if (file == NULL || fseek(file, -1, SEEK_END) != 0 || fputc('x', file) == EOF ||
        fclose(file) != 0)
        tap_bail("%s", path);
    tap_ok(writes("-DNUMBER=17", 1, 17) && writes("-DNUMBER=19", 1, 19),
           "a damaged file is no harm");
    tap_ok(writes_with("-DNUMBER=17", 17, 1) && writes_with("-DNUMBER=19", 19, 1), "and replaced");
    replace_content("-DNUMBER=17", "this is no program", 18);
    tap_ok(writes_with("-DNUMBER=17", 17, 0), "what the driver refuses is compiled");
    tap_ok(writes_with("-DNUMBER=17", 17, 1), "and replaced");
    replace_content("-DNUMBER=17", "", 0);
    tap_ok(writes_with("-DNUMBER=17", 17, 0), "nothing is no program either");
}

static void test_off(void)
{
    struct clr_settings settings;
    struct clr_status status;
    char path[2 * PATH_SIZE];
    const int before = folder_files(folder, path, sizeof path);

    clr_settings_init(&settings);
    clr_settings_set(&settings, "program_cache", "off", &status);
    tap_ok(writes_with("-DNUMBER=17", 17, 0), "where the setting is off none is taken");
    tap_ok(writes_with("-DNUMBER=20", 20, 0) && folder_files(folder, path, sizeof path) == before,
           "and none kept");
    clr_settings_set(&settings, "program_cache", "on", &status);
    keep_in("relative");
    tap_ok(writes_with("-DNUMBER=17", 17, 0), "nor where there is no place for it");
    keep_in(cache);
    info.type = CLR_DEVICE_CPU;
    tap_ok(writes_with("-DNUMBER=17", 17, 0) && writes_with("-DNUMBER=21", 21, 0) &&
               folder_files(folder, path, sizeof path) == before,
           "nor for a CPU device");
    info.type = CLR_DEVICE_GPU;
    clr_memory_fail_after(0);
    tap_ok(writes_with("-DNUMBER=17", 17, 0), "without memory for the key it is compiled");
    clr_memory_fail_after(1);
    tap_ok(writes_with("-DNUMBER=17", 17, 0), "nor for the binary");
    clr_memory_fail_after(-1);
    tap_ok(writes_with("-DNUMBER=17", 17, 1), "and is there later");
}

/* One of the real ones passes its test as any other. */
static void test_reduction(void)
{
    int64_t before = clr_programs_taken();
    struct clr_status status;
    char *log;
    int i;

    for (i = 0; i < 2; i++) {
        open_device();
        clr_status_clear(&status);
        clr_reducer_build(device, CLR_SUM, CLR_INTEGER, &log, &status);
        devices_bail_on(&status, "clr_reducer_build");
        tap_ok(clr_self_test(device, CLR_SUM, CLR_INTEGER, &status) == CLR_OK, "sums, time %d", i);
        clr_device_close(device);
    }
    tap_is_int64(clr_programs_taken() - before, 1, "the second time from disk");
}

int main(int count, char **arguments)
{
    const char *parent = getenv("TMPDIR");

    if (count > 1) {
        info = devices_choose();
        info.type = CLR_DEVICE_GPU;
        return use_once(arguments[1]);
    }
    snprintf(cache, sizeof cache, "%s/clreduce-programs-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(cache) == NULL)
        tap_bail("%s: %s", cache, strerror(errno));
    snprintf(folder, sizeof folder, "%s/clreduce", cache);
    info = devices_choose();
    info.type = CLR_DEVICE_GPU;
    keep_in(cache);
    test_processes();
    open_device();
    test_files();
    test_off();
    clr_device_close(device);
    test_reduction();
    nftw(cache, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return tap_done();
}
