#include "sqlite/access/past_runs.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/memory.h"
#include "sqlite/api.h"

#include <string.h>

/* A statement is tried when a run of the plain one has taken SURE_NS, or each of several has taken
   WORTH_NS: one alone may have waited for the processor. */
enum { WORTH_NS = 2000000, SURE_NS = 10000000 };

/* SQLite goes over no table faster: from a row to the next. */
enum { LEAST_ROW_NS = 10 };

/* What was refused, or was no quicker, is tried again after a minute, and each time after twice
   that. */
#define PAUSE_NS ((int64_t)60000000000)
enum { MOST_DOUBLINGS = 6 };

/* Runs of which the best counts, before the accelerated statement is held to be slower. */
enum { FAIR_RUNS = 3 };

/* A reading of a clock takes 30 ns to 500 ns by the machine, and a run takes four: so of a
   statement that takes SQLite less than QUICK_NS one run of so many is timed, and the others are
   quiet. After one of many steps the next one is timed. */
enum { QUICK_NS = 100000, TIMED_OF_QUICK = 16 };

enum memory_state {
    NEVER_LOOKED_AT, /* zeros */
    RUN_BY_SQLITE,   /* until a plain run takes long, and the pause is over */
    ACCELERATED
};

struct clr_memory {
    uint64_t key;
    char *sql;    /* the first of its texts; NULL: there was no memory for it */
    char *reason; /* why SQLite runs it; NULL: it is too quick for another way */
    enum memory_state state;
    int doublings;
    uint64_t used;                              /* by a number that grows */
    int64_t pause_end;                          /* by the clock */
    int64_t plain_ns, accelerated_ns, total_ns; /* 0: not known */
    int64_t runs, accelerated_runs;
    int64_t rows; /* of the table, about; 0: not known */
    bool is_to_be_timed;
};

/* What is known lies side by side, in the order in which it came: a page that is touched first
   costs microseconds, and one that is not touched costs nothing. A statement is found by its number
   + 1, in one of WAYS places. Where all are taken it takes the one that was not used for longest.
 */
enum { MOST_MEMORIES = 4096, WAYS = 16 };

static struct clr_memory memories[MOST_MEMORIES];
static size_t memory_count;
static uint64_t uses;
static uint16_t numbers[MOST_MEMORIES / WAYS][WAYS];
CLR_LOCK(lock)

/* Returns what is known of a statement; with the lock, until it is given back. sql: to be kept
   where nothing is known; NULL: it is not to be known then, and the result may be NULL. */
static struct clr_memory *find_memory(uint64_t key, const char *sql)
{
    uint16_t *number = numbers[(key >> 32) % (MOST_MEMORIES / WAYS)];
    struct clr_memory *memory, *oldest = NULL;
    size_t bytes;
    int i;

    for (i = 0; i < WAYS && number[i] != 0; i++) {
        memory = &memories[number[i] - 1];
        if (memory->key == key)
            return memory;
        if (oldest == NULL || memory->used < oldest->used)
            oldest = memory;
    }
    if (sql == NULL)
        return NULL;
    if (i < WAYS) {
        oldest = &memories[memory_count++];
        number[i] = (uint16_t)memory_count;
    }
    clr_memory_free(oldest->sql);
    sqlite3_free(oldest->reason);
    bytes = strlen(sql) + 1;
    *oldest = (struct clr_memory){.key = key, .sql = clr_memory_alloc(bytes)};
    if (oldest->sql != NULL)
        memcpy(oldest->sql, sql, bytes);
    return oldest;
}

/* Takes note that SQLite is to run the statement; the reason, which may be NULL, is the memory's.
 */
static void refuse(struct clr_memory *memory, char *reason)
{
    sqlite3_free(memory->reason);
    memory->reason = reason;
    memory->state = RUN_BY_SQLITE;
    memory->pause_end = clr_clock_ns() + (PAUSE_NS << memory->doublings);
    memory->doublings += memory->doublings < MOST_DOUBLINGS;
}

/* As find_memory(), where it may have been found before. */
static struct clr_memory *memory_of(struct clr_past *past, const char *sql)
{
    if (past->memory == NULL || past->memory->key != past->key)
        past->memory = find_memory(past->key, sql);
    return past->memory;
}

/* Whether plain runs take so long that another way is worth a try. */
static bool takes_long(const struct clr_memory *memory)
{
    return memory->plain_ns >= (memory->runs > 1 ? WORTH_NS : SURE_NS);
}

/* Whether the accelerated statement should run now, by what is known; with the lock. */
static bool is_worth_it(const struct clr_memory *memory)
{
    if (memory->state == ACCELERATED)
        /* The time of the plain one decides, unless no run could be that quick. */
        return memory->plain_ns > 0 || memory->accelerated_runs <= FAIR_RUNS ||
               memory->accelerated_ns < memory->rows * LEAST_ROW_NS;
    return memory->state == RUN_BY_SQLITE && takes_long(memory) &&
           clr_clock_ns() >= memory->pause_end;
}

/* Returns how many of the next runs of the plain statement are quiet: none where is_worth_it() is
   true; with the lock. */
static int count_quiet(const struct clr_memory *memory)
{
    if (memory->state != RUN_BY_SQLITE || memory->runs <= FAIR_RUNS || memory->plain_ns == 0 ||
        memory->plain_ns >= QUICK_NS || memory->is_to_be_timed)
        return 0;
    return (int)(-memory->runs & (TIMED_OF_QUICK - 1));
}

bool clr_past_look(struct clr_past *past, bool *is_known, bool *is_accelerated)
{
    const struct clr_memory *memory;
    bool is_worth;

    take_lock();
    memory = memory_of(past, NULL);
    *is_known = memory != NULL;
    *is_accelerated = *is_known && memory->state == ACCELERATED;
    is_worth = *is_known && is_worth_it(memory);
    give_lock();
    return is_worth;
}

void clr_past_add_quiet(struct clr_past *past, struct clreduce_quiet_runs runs)
{
    struct clr_memory *memory;

    if (runs.count == 0)
        return;
    take_lock();
    memory = memory_of(past, NULL);
    if (memory != NULL) {
        memory->runs += runs.count;
        memory->total_ns += runs.count * memory->plain_ns;
        memory->is_to_be_timed = runs.steps >= CLREDUCE_FEW_STEPS;
    }
    give_lock();
}

bool clr_past_begin(struct clr_past *past, const char *sql, int64_t rows, bool *is_new, int *quiet)
{
    struct clr_memory *memory;
    bool is_worth;

    take_lock();
    memory = memory_of(past, sql);
    memory->used = ++uses;
    *is_new = memory->state == NEVER_LOOKED_AT;
    if (*is_new)
        memory->state = RUN_BY_SQLITE;
    if (rows > 0)
        memory->rows = rows;
    is_worth = is_worth_it(memory);
    *quiet = count_quiet(memory);
    give_lock();
    return is_worth;
}

void clr_past_choose(struct clr_past *past, const char *sql, bool is_refused, char *reason)
{
    struct clr_memory *memory;

    take_lock();
    memory = memory_of(past, sql);
    if (memory == NULL)
        sqlite3_free(reason);
    else if (is_refused)
        refuse(memory, reason);
    else
        memory->state = ACCELERATED;
    give_lock();
}

/* The mean of a time, of which the latest count most; a quicker one counts at once. */
static int64_t mean(int64_t old, int64_t latest)
{
    return old == 0 || latest < old ? latest : (old * 3 + latest) / 4;
}

/* Takes note of a run. Returns as clr_past_end() does. */
static bool add_run(struct clr_memory *memory, const struct clr_past_run *run)
{
    memory->runs++;
    memory->total_ns += run->nanoseconds;
    memory->is_to_be_timed = false;
    if (!run->is_accelerated || run->is_by_rows) {
        if (run->is_complete || (!run->is_accelerated && run->nanoseconds > memory->plain_ns))
            memory->plain_ns = mean(memory->plain_ns, run->nanoseconds);
        if (!run->is_accelerated || run->is_postponed)
            return false;
        refuse(memory, sqlite3_mprintf("SQLite ran it, which was quicker or the only way"));
        return true;
    }
    memory->accelerated_runs++;
    if (run->is_loaded || memory->accelerated_runs > 1)
        memory->accelerated_ns = mean(memory->accelerated_ns, run->nanoseconds);
    if (memory->plain_ns == 0 || memory->accelerated_runs <= FAIR_RUNS ||
        memory->accelerated_ns <= memory->plain_ns)
        return false;
    refuse(memory, sqlite3_mprintf("SQLite is quicker"));
    return true;
}

bool clr_past_end(struct clr_past *past, const struct clr_past_run *run)
{
    struct clr_memory *memory;
    bool is_refused;

    take_lock();
    memory = memory_of(past, NULL);
    is_refused = memory != NULL && add_run(memory, run);
    give_lock();
    return is_refused;
}

void clr_past_runs_touch(void)
{
    enum { PAGE = 4096, FIRST_BYTES = 8 * PAGE };
    volatile char *bytes = (volatile char *)numbers;
    size_t i;

    take_lock();
    for (i = 0; i < sizeof numbers; i += PAGE)
        bytes[i] = bytes[i];
    bytes = (volatile char *)memories;
    for (i = 0; i < FIRST_BYTES; i += PAGE)
        bytes[i] = bytes[i];
    give_lock();
}

void clr_past_runs_tell(void (*line)(void *argument, const struct clreduce_gate_line *),
                        void *argument)
{
    size_t i;

    take_lock();
    for (i = 0; i < memory_count; i++) {
        const struct clr_memory *memory = &memories[i];
        const struct clreduce_gate_line told = {
            memory->sql == NULL ? "" : memory->sql,
            memory->state == ACCELERATED ? NULL
            : memory->reason != NULL     ? memory->reason
            : takes_long(memory)         ? "another way is tried when it comes again"
                                         : "it takes SQLite no time",
            memory->runs,
            memory->accelerated_runs,
            memory->total_ns,
            memory->plain_ns,
            memory->accelerated_ns,
        };

        if (memory->runs > 0)
            line(argument, &told);
    }
    give_lock();
}
