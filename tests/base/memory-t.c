/* Memory, and the failing allocation that other tests rely on. */
#include "base/memory.h"

#include "tap.h"

#include <string.h>

/* Counts how many of some allocations fail after clr_memory_fail_after(after). */
static int failures(long after, int allocations)
{
    int i, failed = 0;

    clr_memory_fail_after(after);
    for (i = 0; i < allocations; i++) {
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

int main(void)
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

    tap_is_int64(failures(-1, 100), 0, "none fails without being asked to");
    tap_is_int64(clr_memory_fail_after(-1), 0, "and none is told of");
    tap_is_int64(failures(0, 100), 1, "one fails, and only one");
    tap_is_int64(clr_memory_fail_after(-1), 1, "and is told of");
    tap_is_int64(failures(99, 100), 1, "the last one");
    tap_is_int64(failures(100, 100), 0, "the one after the last does not come");
    tap_is_int64(clr_memory_fail_after(-1), 0, "and is not told of");
    return tap_done();
}
