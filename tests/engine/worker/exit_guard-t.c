/* The exit guard: before all handlers of exit(), those that were registered after it included. */
#include "base/system.h"

#include "child.h"

#include <pthread.h>
#include <sys/mman.h>

enum { LIMIT_S = 20, NOTES = 8 };

/* In what order things happened; shared with the children. */
static struct {
    int count;
    char note[NOTES];
} * notes;

static void note(char what)
{
    if (notes->count < NOTES - 1)
        notes->note[notes->count++] = what;
}

static void note_guard(void)
{
    note('g');
}

static void note_early(void)
{
    note('e');
}

static void note_late(void)
{
    note('l');
}

static void guard_between_handlers(void)
{
    atexit(note_early);
    child_ok(clr_system_guard_exit(note_guard), "the exit is guarded");
    atexit(note_late);
}

static void *guard_in_thread(void *unused)
{
    (void)unused;
    return clr_system_guard_exit(note_guard) ? notes : NULL;
}

/* The end of any other thread is not that of the process. */
static void guard_from_thread(void)
{
    pthread_t thread;
    void *guarded;

    TAP_NEED(pthread_create(&thread, NULL, guard_in_thread, NULL) == 0, "no thread");
    pthread_join(thread, &guarded);
    child_ok(guarded == NULL, "another thread guards nothing");
    note('t');
}

static void run(void (*work)(void), const char *want, const char *name)
{
    memset(notes, 0, sizeof *notes);
    tap_ok(child_run(work, LIMIT_S), "%s", name);
    tap_is_string(notes->note, want, "... in this order");
}

TAP_TEST(all_tests)
{
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TAP_NEED(notes != MAP_FAILED, "no shared memory");
    if (!clr_system_guard_exit(note_guard))
        tap_skip_all("this C library has no such means");
    run(guard_between_handlers, "ggle", "guards, then handlers");
    run(guard_from_thread, "tg", "from another thread");
}
