/* What everything else stands on: memory, the processor, settings, results and UTF-8. */
#include "base/memory.h"
#include "base/processor.h"
#include "base/settings.h"
#include "base/status.h"
#include "base/system.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory, and the failing allocation that other tests rely on. */

/* Counts how many of some allocations fail after clr_memory_fail_after(after). */
static int failures(long after, int allocations)
{
    int failed = 0;

    clr_memory_fail_after(after);
    for (int i = 0; i < allocations; i++) {
        void *block = clr_memory_alloc(8);
        if (block == NULL) {
            failed++;
            if (i != after)
                tap_diag("allocation %d failed", i);
        }
        clr_memory_free(block);
    }
    return failed;
}

#ifndef _WIN32

/* Writes a file, in directories that are made. */
static void write_file(const char *root, const char *name, const char *text)
{
    char command[600];

    snprintf(command, sizeof command, "mkdir -p \"$(dirname \"%s/%s\")\" && echo '%s' > \"%s/%s\"",
             root, name, text, root, name);
    if (system(command) != 0)
        tap_ok(false, "%s could not be written", name);
}

/* Control groups, as the two versions of them look in a machine, a service and a container: what is
   written, one file after the other, and the limits that there are then. */
static const struct {
    const char *file, *text;     /* or NULL */
    uint64_t memory, processors; /* 0: nobody asks */
    const char *what;
} group_steps[] = {
    {NULL, NULL, UINT64_MAX, 0, "no groups"},
    {"proc/self/cgroup", "0::/a.slice/b.service", UINT64_MAX, 0, "a group that is not to be seen"},
    {"sys/fs/cgroup/a.slice/b.service/memory.max", "max", UINT64_MAX, 0, "one without a limit"},
    {"sys/fs/cgroup/a.slice/memory.max", "300000000", 300000000, 0, "the group around it has one"},
    {"sys/fs/cgroup/a.slice/b.service/memory.max", "200000000", 200000000, 0,
     "both, the inner one less"},
    {"sys/fs/cgroup/memory.max", "100000000", 100000000, 0, "a container's"},
    {"proc/self/cgroup", "9:name=systemd:/x\n8:cpu,memory:/docker/1\n7:memory_other:/y", 0, 0,
     NULL},
    {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712", 0, 0, NULL},
    {"sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "50000000", 50000000, 0,
     "of the first version"},
    {NULL, NULL, 0, UINT64_MAX, "no limit of processors"},
    {"sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "-1", 0, 0, NULL},
    {"sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us", "100000", 0, UINT64_MAX,
     "none of the first version"},
    {"sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "150000", 0, 2, "one and a half"},
    {"proc/self/cgroup", "0::/a.slice/b.service", 0, 0, NULL},
    {"sys/fs/cgroup/a.slice/cpu.max", "max 100000", 0, UINT64_MAX, "none of the second version"},
    {"sys/fs/cgroup/a.slice/cpu.max", "300000 100000", 0, 3, "three"},
    {"sys/fs/cgroup/a.slice/b.service/cpu.max", "20000 100000", 0, 1, "a fifth of one"},
};

TAP_TEST(control_group_tests)
{
    char root[] = "/tmp/clreduce-groups.XXXXXX", command[100];

    TAP_NEED(mkdtemp(root) != NULL, "no directory");
    TAP_EACH (i, group_steps) {
        if (group_steps[i].file != NULL)
            write_file(root, group_steps[i].file, group_steps[i].text);
        if (group_steps[i].memory != 0)
            tap_is_uint64(clr_control_groups_memory(root), group_steps[i].memory, "%s",
                          group_steps[i].what);
        if (group_steps[i].processors != 0)
            tap_is_uint64(clr_control_groups_processors(root), group_steps[i].processors, "%s",
                          group_steps[i].what);
    }
    tap_ok(clr_system_memory() > 0, "the process' own");
    tap_ok(clr_system_processors() > 0, "the process' own processors");
    snprintf(command, sizeof command, "rm -r %s", root);
    tap_ok(system(command) == 0, "the directory is gone");
}

#endif

TAP_TEST(memory_tests)
{
    char *block = clr_memory_alloc(4), *larger;

    tap_ok(block != NULL, "memory");
    memcpy(block, "abc", 4);
    larger = clr_memory_realloc(block, 100000);
    tap_ok(larger != NULL && strcmp(larger, "abc") == 0, "more of it, with what was in there");
    block = larger;

    clr_memory_fail_after(0);
    larger = clr_memory_realloc(block, 200000);
    tap_ok(larger == NULL, "a reallocation that was to fail");
    tap_is_string(block, "abc", "leaves the old block");
    tap_is_int64(clr_memory_fail_after(-1), 1, "and it is told that one failed");
    clr_memory_free(block);
    clr_memory_free(NULL);
    larger = clr_memory_realloc(NULL, 10);
    tap_ok(larger != NULL, "reallocating nothing allocates");
    clr_memory_free(larger);

#ifndef _WIN32
    block = clr_memory_alloc(100001);
    tap_is_int64((int64_t)((uintptr_t)block % 64), 0, "a large block begins with a cache line");
    clr_memory_free(block);
#endif

    tap_is_int64(failures(-1, 100), 0, "none fails without being asked to");
    tap_is_int64(clr_memory_fail_after(-1), 0, "and none is told of");
    tap_is_int64(failures(0, 100), 1, "one fails, and only one");
    tap_is_int64(clr_memory_fail_after(-1), 1, "and is told of");
    tap_is_int64(failures(99, 100), 1, "the last one");
    tap_is_int64(failures(100, 100), 0, "the one after the last does not come");
    tap_is_int64(clr_memory_fail_after(-1), 0, "and is not told of");
}

/* ---- The processor's vector instructions, as the compiler's library knows them too. */

TAP_TEST(processor_tests)
{
    enum clr_vectors want = CLR_VECTORS_PORTABLE;

#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("popcnt"))
        want = CLR_VECTORS_AVX2;
    if (want == CLR_VECTORS_AVX2 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        want = CLR_VECTORS_AVX512;
#endif
    tap_is_int64(clr_processor_vectors(), want, "the widest vectors");
    tap_is_int64(clr_processor_vectors(), want, "and again");
}

/* ---- Settings: their defaults, what may be set, and what is said about the rest. */

TAP_TEST(test_defaults)
{
    struct clr_settings settings;

    unsetenv("CLREDUCE_DEVICE");
    clr_settings_init(&settings);
    tap_is_string(settings.device, "auto", "the device is chosen by itself");
    tap_is_int64(settings.chunk_size, 16384, "chunk_size");
    tap_is_int64(settings.host_threshold, 4096, "host_threshold");
    tap_is_int64(settings.start_after, 1048576, "start_after");
    tap_is_int64(settings.chunks_in_flight, 2, "chunks_in_flight");
    tap_is_int64(settings.device_timeout, 10000, "device_timeout");
    tap_is_int64(settings.view_threshold, 1000, "view_threshold");
    tap_is_int64(clr_process_setting(CLR_COLUMN_MEMORY), 0, "column_memory");
    tap_is_int64(clr_process_setting(CLR_COLUMN_RETENTION), 10000, "column_retention");
    tap_is_int64(settings.values_memory, 0, "values_memory");
    tap_is_int64(settings.keep_answers, 1, "keep_answers");
    tap_is_int64(settings.override, 0, "override");
}

TAP_TEST(test_environment)
{
    struct clr_settings settings;
    char longest[CLR_SETTING_TEXT_SIZE + 10];

    setenv("CLREDUCE_DEVICE", "host", 1);
    clr_settings_init(&settings);
    tap_is_string(settings.device, "host", "CLREDUCE_DEVICE is the device's default");
    setenv("CLREDUCE_DEVICE", "", 1);
    clr_settings_init(&settings);
    tap_is_string(settings.device, "auto", "an empty CLREDUCE_DEVICE is none");

    /* The environment is nobody's promise: whatever is in it must fit. */
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    setenv("CLREDUCE_DEVICE", longest, 1);
    clr_settings_init(&settings);
    tap_is_int64((int64_t)strlen(settings.device), CLR_SETTING_TEXT_SIZE - 1,
                 "a CLREDUCE_DEVICE that is too long is cut");
    unsetenv("CLREDUCE_DEVICE");
}

/* Tries a value; it must be refused, change nothing, and be answered by the message. */
static void refuses(const char *name, const char *value, const char *message)
{
    struct clr_settings settings, before;
    struct clr_status status = {.code = CLR_OK};

    /* Cleared first, so that padding can be compared as well. */
    memset(&settings, 0, sizeof settings);
    clr_settings_init(&settings);
    before = settings;
    tap_ok(clr_settings_set(&settings, name, value, &status) == CLR_INVALID &&
               status.code == CLR_INVALID && memcmp(&settings, &before, sizeof before) == 0,
           "'%s' for %s is refused, and changes nothing", value, name);
    if (!tap_ok(strstr(status.message, message) != NULL, "... and the message has: %s", message))
        tap_diag("%s", status.message);
}

TAP_TEST(test_refusals)
{
    const char *range = "chunk_size must be an integer from 16 to 16777216, not '";

    refuses("chunk_size", "15", range);
    refuses("chunk_size", "16777217", range);
    refuses("chunk_size", "", range);
    refuses("chunk_size", "1e6", range);
    refuses("chunk_size", "100 ", range);
    refuses("chunk_size", "x", range);
    refuses("chunk_size", "-65536", range);
    refuses("chunk_size", "9223372036854775808", range);
    refuses("chunk_size", "18446744073709617152", range); /* 2^64 + 65536 */
    refuses("override", "1", "override must be 'on' or 'off', not '1'");
    refuses("override", "", "override must be 'on' or 'off', not ''");
    refuses("device_arithmetic", "fp32",
            "device_arithmetic must be 'fp64', 'integer' or 'auto', not 'fp32'");
    refuses("device_columns", "on", "device_columns must be 'copied' or 'auto', not 'on'");
    refuses("chunks_in_flight", "0", "from 1 to 64");
    refuses("chunks_in_flight", "65", "from 1 to 64");
    refuses("device_timeout", "99", "from 100 to 86400000");
    refuses("start_after", "-1", "from 0 to 9223372036854775807");
    refuses("host_threshold", "0", "from 1 to 9223372036854775807");
    refuses("device", "", "device must have 1 to 127 bytes, not 0");
    refuses("speed", "1",
            "no setting 'speed'; there are: device, chunk_size, host_threshold, start_after, "
            "chunks_in_flight, device_timeout, view_threshold, column_memory, "
            "device_memory, column_retention, values_memory, keep_answers, override, "
            "device_arithmetic, "
            "device_columns, devices");
    refuses("Device", "auto", "no setting 'Device'"); /* names are exact */
    refuses("", "1", "no setting ''");
}

/* Whether a setting takes a value. */
static bool sets(struct clr_settings *settings, const char *name, const char *value)
{
    struct clr_status status = {.code = CLR_OK};

    return clr_settings_set(settings, name, value, &status) == CLR_OK;
}

TAP_TEST(test_changes)
{
    struct clr_settings settings;
    struct clr_status status = {.code = CLR_OK};
    char text[CLR_SETTING_TEXT_SIZE + 1];

    clr_settings_init(&settings);
    tap_ok(sets(&settings, "chunk_size", "16") && settings.chunk_size == 16,
           "the least chunk_size");
    tap_ok(sets(&settings, "chunk_size", "16777216") && settings.chunk_size == 16777216,
           "the greatest chunk_size");
    tap_ok(sets(&settings, "host_threshold", "9223372036854775807") &&
               settings.host_threshold == INT64_MAX,
           "the greatest host_threshold");
    tap_ok(sets(&settings, "device_timeout", "100") && settings.device_timeout == 100,
           "the least device_timeout");
    tap_ok(sets(&settings, "override", "on") && settings.override == 1 &&
               sets(&settings, "override", "off") && settings.override == 0,
           "a setting that is on or off");

    tap_ok(sets(&settings, "column_memory", "1000") &&
               clr_process_setting(CLR_COLUMN_MEMORY) == 1000 &&
               sets(&settings, "column_memory", "0") && clr_process_setting(CLR_COLUMN_MEMORY) == 0,
           "a setting of the process");
    setenv("CLREDUCE_DEVICE_ARITHMETIC", "integer", 1);
    tap_ok(clr_process_setting(CLR_DEVICE_ARITHMETIC) == CLR_ARITHMETIC_INTEGER &&
               sets(&settings, "device_arithmetic", "auto") &&
               clr_process_setting(CLR_DEVICE_ARITHMETIC) == CLR_ARITHMETIC_AUTO,
           "one whose default is the environment's, until it is set");
    tap_ok(sets(&settings, "device_arithmetic", "fp64") &&
               clr_process_setting(CLR_DEVICE_ARITHMETIC) == CLR_ARITHMETIC_FP64 &&
               sets(&settings, "device_arithmetic", "auto"),
           "one of three words");
    tap_ok(clr_process_setting(CLR_DEVICE_COLUMNS) == CLR_DEVICE_COLUMNS_AUTO &&
               sets(&settings, "device_columns", "copied") &&
               clr_process_setting(CLR_DEVICE_COLUMNS) == CLR_DEVICE_COLUMNS_COPIED,
           "which is not that of another one");
    unsetenv("CLREDUCE_DEVICE_ARITHMETIC");

    memset(text, 'n', sizeof text);
    text[CLR_SETTING_TEXT_SIZE - 1] = '\0';
    tap_ok(sets(&settings, "device", text) && strcmp(settings.device, text) == 0,
           "the longest name of a device");
    text[CLR_SETTING_TEXT_SIZE - 1] = 'n';
    text[CLR_SETTING_TEXT_SIZE] = '\0';
    tap_ok(clr_settings_set(&settings, "device", text, &status) == CLR_INVALID,
           "one byte more is refused");
}

TAP_TEST(test_list)
{
    static const char *const names[] = {
        "device",           "chunk_size",        "host_threshold", "start_after",
        "chunks_in_flight", "device_timeout",    "view_threshold", "column_memory",
        "device_memory",    "column_retention",  "values_memory",  "keep_answers",
        "override",         "device_arithmetic", "device_columns", "devices"};
    struct clr_setting_description description;
    struct clr_settings settings;
    size_t i;

    clr_settings_init(&settings);
    sets(&settings, "chunk_size", "100");
    sets(&settings, "device", "host");
    for (i = 0; clr_settings_describe(&settings, i, &description); i++) {
        if (!tap_ok(i < sizeof names / sizeof names[0], "there is a setting number %zu", i))
            return;
        tap_is_string(description.name, names[i], "its name");
        tap_ok(description.meaning[0] != '\0', "its meaning is given");
        if (i == 0) {
            tap_is_string(description.value, "host", "a text as it was set");
            tap_is_string(description.default_value, "auto", "and its default");
        }
        if (i == 1) {
            tap_is_string(description.value, "100", "an integer as it was set");
            tap_is_string(description.default_value, "16384", "and its default");
        }
        /* What the list shows can be set: nothing in it is mere decoration. */
        tap_ok(sets(&settings, description.name, description.default_value),
               "the default of %s can be set", description.name);
    }
    tap_is_int64((int64_t)i, sizeof names / sizeof names[0], "all settings are listed");
}

/* ---- The status object: a code, an OpenCL error and a message that always fits. */

TAP_TEST(status_tests)
{
    struct clr_status status;
    char longer[2 * CLR_STATUS_MESSAGE];

    memset(&status, 'x', sizeof status);
    clr_status_clear(&status);
    tap_ok(status.code == CLR_OK && status.error == 0, "cleared: no error");
    tap_is_string(status.message, "", "and no message");

    tap_ok(clr_status_set(&status, CLR_DEVICE, -5, "%s took %d%%", "it", 7) == CLR_DEVICE,
           "setting returns the code");
    tap_ok(status.code == CLR_DEVICE && status.error == -5, "code and error are kept");
    tap_is_string(status.message, "it took 7%", "the message is formatted");

    /* Names of devices and drivers' texts can be of any length. */
    memset(longer, 'y', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    clr_status_set(&status, CLR_INVALID, 0, "%s", longer);
    tap_is_int64((int64_t)strlen(status.message), CLR_STATUS_MESSAGE - 1,
                 "a message that is too long is cut");
    tap_is_int64(status.error, 0, "an older error is gone");
}

/* ---- Texts that were cut anywhere keep their whole characters, and nothing else. */

static const struct {
    const char *text, *want, *what;
} cases[] = {
    {"", "", "nothing"},
    {"plain", "plain", "ASCII"},
    {"\x7f\x01", "\x7f\x01", "the ends of ASCII"},
    {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
     "characters of two, three and four bytes"},
    {"a\xc3", "a", "the first of two bytes"},
    {"a\xe2\x82", "a", "two of three bytes"},
    {"a\xf0\x9f\x98", "a", "three of four bytes"},
    {"\xc3', \xe2\x82', \xf0\x9f\x98'", "', ', '", "parts of characters within a text"},
    {"\xc3\xc3\xa4", "\xc3\xa4", "a part before a whole character"},
    {"\xa4\x80z", "z", "bytes that begin none"},
    {"\xc0\x80\xc1\xbf\xf5\x80\x80\x80\xff!", "!", "bytes that no character begins with"},
};

TAP_TEST(utf8_tests)
{
    char text[64];

    TAP_EACH (i, cases) {
        memcpy(text, cases[i].text, strlen(cases[i].text) + 1);
        clr_utf8_repair(text);
        tap_is_string(text, cases[i].want, "%s", cases[i].what);
    }
}
