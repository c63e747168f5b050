/* The sums, and the answers to questions, of listed values: those of each group are put together,
   or counted. */
#include "numeric/groups/group_scan.h"

#include "base/memory.h"
#include "numeric/distinct/distinct_counting.h"
#include "numeric/order/keys.h"
#include "numeric/order/selection.h"
#include "numeric/scan/host_reduce.h"
#include "numeric/values/narrow.h"

#include <math.h>
#include <string.h>

/* CHUNK: groups that a worker takes at a time. PIECE: values between two looks at whether to stop,
   or LARGE of them where each takes little time. SOME: counts that are always fine. MOST: counts of
   a part that a cache holds. AHEAD: how many values ahead places are fetched. */
enum { CHUNK = 64, PIECE = 4096, LARGE = 1 << 18, SOME = 65536, MOST = 1 << 19, AHEAD = 16 };

static struct clr_group_list *list_of(const struct clr_groups *groups, int part, int tally,
                                      enum clr_group_list_kind kind)
{
    return &groups->parts[part]->addends.lists[tally * CLR_LISTS + (int)kind];
}

/* ---- Values arranged by group. */

/* Of one type. The values of group g are x[starts[g]] up to starts[g + 1]; without any, starts is
   NULL. */
struct arranged_list {
    struct clr_room starts, x, y; /* uint32_t; int64_t, bits; likewise, of pairs alone */
};

struct arranged {
    struct arranged_list lists[CLR_LISTS];
};

/* The values of a group in a list. */
struct values_of_group {
    const int64_t *x, *y;
    size_t count;
};

static struct values_of_group get_arranged(const struct arranged *arranged,
                                           enum clr_group_list_kind kind, size_t group)
{
    const struct arranged_list *list = &arranged->lists[kind];
    const uint32_t *starts = list->starts.start;
    const int64_t *y = list->y.start;

    if (starts == NULL)
        return (struct values_of_group){NULL, NULL, 0};
    return (struct values_of_group){(const int64_t *)list->x.start + starts[group],
                                    y == NULL ? NULL : y + starts[group],
                                    starts[group + 1] - starts[group]};
}

/* What workers share: each has some of the parts, and counts for all groups. */
struct arranging {
    struct clr_groups *groups;
    int tally;
    enum clr_group_list_kind kind;
    int workers;
    struct clr_room counts; /* uint32_t */
    struct arranged_list *list;
};

static int first_part(const struct arranging *arranging, int worker)
{
    return arranging->groups->part_count * worker / arranging->workers;
}

static uint32_t *arranging_counts(const struct arranging *arranging, int worker)
{
    return (uint32_t *)arranging->counts.start + (size_t)worker * arranging->groups->count;
}

/* Counts the values of each group, and gives them the groups' final numbers. */
static void count_arranged(void *argument, int worker, const atomic_bool *stop)
{
    struct arranging *arranging = argument;
    uint32_t *counts = arranging_counts(arranging, worker);
    int part;
    size_t i;

    for (part = first_part(arranging, worker); part < first_part(arranging, worker + 1); part++) {
        const struct clr_group_list *list =
            list_of(arranging->groups, part, arranging->tally, arranging->kind);
        uint32_t *numbers = list->numbers.start;

        for (i = 0; i < list->count; i++) {
            if (i % PIECE == 0 && clr_portion_stops(stop))
                return;
            numbers[i] = clr_groups_final(arranging->groups, part, numbers[i]);
            counts[numbers[i]]++;
        }
    }
}

/* Makes of the counts where each worker puts its values. */
static void find_starts(void *argument, int worker, const atomic_bool *stop)
{
    struct arranging *arranging = argument;
    uint32_t *starts = arranging->list->starts.start, next = 0;
    size_t group;
    int w;

    (void)worker;
    for (group = 0; group < arranging->groups->count; group++) {
        if (group % PIECE == 0 && clr_portion_stops(stop))
            return;
        starts[group] = next;
        for (w = 0; w < arranging->workers; w++) {
            uint32_t *count = arranging_counts(arranging, w) + group;
            const uint32_t here = *count;
            *count = next;
            next += here;
        }
    }
    starts[group] = next;
}

static void put_values(void *argument, int worker, const atomic_bool *stop)
{
    struct arranging *arranging = argument;
    uint32_t *next = arranging_counts(arranging, worker);
    int64_t *x = arranging->list->x.start, *y = arranging->list->y.start;
    int part;
    size_t i;

    for (part = first_part(arranging, worker); part < first_part(arranging, worker + 1); part++) {
        const struct clr_group_list *list =
            list_of(arranging->groups, part, arranging->tally, arranging->kind);
        const uint32_t *numbers = list->numbers.start;
        const int64_t *from_x = list->x.start, *from_y = list->y.start;

        for (i = 0; i < list->count; i++) {
            const uint32_t place = next[numbers[i]]++;

            if (i + AHEAD < list->count)
                __builtin_prefetch(&x[next[numbers[i + AHEAD]]], 1);
            if (i % PIECE == 0 && clr_portion_stops(stop))
                return;
            x[place] = from_x[i];
            if (y != NULL)
                y[place] = from_y[i];
        }
    }
}

static enum clr_scan_outcome run_arranging(struct arranging *arranging,
                                           const struct clr_group_team *team, int workers,
                                           clr_portion_work *work)
{
    return team->run(team->context, workers, work, arranging) ? CLR_SCAN_DONE : CLR_SCAN_STOPPED;
}

/* Makes room for so many values, and puts them there. */
static enum clr_scan_outcome arrange(struct arranging *arranging, size_t total,
                                     const struct clr_group_team *team)
{
    struct clr_groups *groups = arranging->groups;
    struct clr_group_memory *memory = &groups->memory;
    struct arranged_list *list = arranging->list;
    const bool pairs = groups->plan.tallies[arranging->tally].pairs;
    enum clr_scan_outcome outcome;

    arranging->workers = groups->part_count;
    while (arranging->workers > 1 &&
           (uint64_t)arranging->workers * groups->count > 4 * (uint64_t)total + SOME)
        arranging->workers--;
    outcome = clr_room_make(&arranging->counts, memory,
                            (size_t)arranging->workers * groups->count * sizeof(uint32_t));
    if (outcome == CLR_SCAN_DONE)
        outcome = clr_room_make(&list->starts, memory, (groups->count + 1) * sizeof(uint32_t));
    if (outcome == CLR_SCAN_DONE)
        outcome = clr_room_make(&list->x, memory, total * sizeof(int64_t));
    if (outcome == CLR_SCAN_DONE && pairs)
        outcome = clr_room_make(&list->y, memory, total * sizeof(int64_t));
    if (outcome == CLR_SCAN_DONE)
        outcome = run_arranging(arranging, team, arranging->workers, count_arranged);
    if (outcome == CLR_SCAN_DONE)
        outcome = run_arranging(arranging, team, 1, find_starts);
    if (outcome == CLR_SCAN_DONE)
        outcome = run_arranging(arranging, team, arranging->workers, put_values);
    clr_room_free(&arranging->counts, memory);
    return outcome;
}

/* Arranges the parts' lists of a tally, which are freed. free_arranged() is due after failures too.
   Returns as the others do. */
static enum clr_scan_outcome arrange_lists(struct arranged *arranged, struct clr_groups *groups,
                                           int tally, const struct clr_group_team *team)
{
    struct arranging arranging = {.groups = groups, .tally = tally};
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int kind, part;

    memset(arranged, 0, sizeof *arranged);
    for (kind = 0; kind < CLR_LISTS && outcome == CLR_SCAN_DONE; kind++) {
        size_t total = 0;

        arranging.kind = (enum clr_group_list_kind)kind;
        arranging.list = &arranged->lists[kind];
        for (part = 0; part < groups->part_count; part++)
            total += list_of(groups, part, tally, arranging.kind)->count;
        if (total == 0)
            continue;
        outcome = arrange(&arranging, total, team);
        for (part = 0; part < groups->part_count; part++)
            clr_group_list_free(list_of(groups, part, tally, arranging.kind), &groups->memory);
    }
    return outcome;
}

static void free_arranged(struct arranged *arranged, struct clr_group_memory *memory)
{
    int kind;

    for (kind = 0; kind < CLR_LISTS; kind++) {
        clr_room_free(&arranged->lists[kind].starts, memory);
        clr_room_free(&arranged->lists[kind].x, memory);
        clr_room_free(&arranged->lists[kind].y, memory);
    }
}

/* ---- Values counted: how often each group has each, where these are INTEGERs in a small range. It
   is all that positions need to be found, without putting the values of each group together. */

/* Zeros: nothing is counted. */
struct counted {
    int64_t first;        /* the least value */
    size_t range;         /* how many values there may be from it on; 0: nothing is counted */
    size_t stride;        /* counts of a part: range for each group */
    int parts;            /* that have counts of their own */
    struct clr_room room; /* uint32_t: of the parts, one after the other */
};

/* What the workers share, of which each has a part. */
struct counting {
    struct counted *counted;
    struct clr_groups *groups;
    int tally;
    struct clr_frame bounds[CLR_GROUP_PARTS];
};

/* Whether positions are all that is asked of the tallies whose values are those of the lister. */
static bool asks_for_positions(const struct clr_groups *groups, int lister)
{
    const struct clr_scan *scan = groups->plan.scan;
    int i;

    for (i = lister; i < groups->plan.tally_count; i++) {
        const struct clr_group_tally *tally = &groups->plan.tallies[i];

        if (tally->gathers && tally->gathered_by == lister && tally->gathers_sum)
            return false;
    }
    for (i = 0; i < scan->question_count; i++) {
        const struct clr_question *question = &scan->questions[i];

        if (groups->plan.tallies[question->tally].gathered_by == lister &&
            question->kind != CLR_ASK_BETWEEN && question->kind != CLR_ASK_AT)
            return false;
    }
    return true;
}

static void find_range(void *argument, int part, const atomic_bool *stop)
{
    struct counting *counting = argument;
    const struct clr_group_list *list =
        list_of(counting->groups, part, counting->tally, CLR_LIST_INTEGERS);
    const int64_t *x = list->x.start;
    struct clr_frame bounds = CLR_FRAME_OF_NONE;
    size_t i, count;

    for (i = 0; i < list->count && !clr_portion_stops(stop); i += count) {
        count = list->count - i < LARGE ? list->count - i : LARGE;
        clr_frame_add(&bounds, x + i, count);
    }
    counting->bounds[part] = bounds;
}

static uint32_t *counted_of(const struct counted *counted, int part, size_t group)
{
    return (uint32_t *)counted->room.start + (size_t)part * counted->stride +
           group * counted->range;
}

static void count_counted(void *argument, int part, const atomic_bool *stop)
{
    struct counting *counting = argument;
    const struct counted *counted = counting->counted;
    const struct clr_group_list *list =
        list_of(counting->groups, part, counting->tally, CLR_LIST_INTEGERS);
    const uint32_t *numbers = list->numbers.start;
    const int64_t *x = list->x.start;
    uint32_t *counts = counted_of(counted, part, 0);
    size_t i;

    for (i = 0; i < list->count; i++) {
        if (i % PIECE == 0 && clr_portion_stops(stop))
            return;
        counts[clr_groups_final(counting->groups, part, numbers[i]) * counted->range +
               (size_t)(x[i] - counted->first)]++;
    }
}

/* Stores the range of the values, unless it is too large for so few, count of them: the counts take
   no more than the values would. */
static void choose_range(const struct counting *counting, size_t count)
{
    struct counted *counted = counting->counted;
    const size_t groups = counting->groups->count, enough = 2 * count / (size_t)counted->parts;
    const size_t most = enough < MOST ? enough : MOST;
    struct clr_frame bounds = CLR_FRAME_OF_NONE;
    int64_t least, greatest;
    int part;

    for (part = 0; part < counted->parts; part++)
        clr_frame_join(&bounds, &counting->bounds[part]);
    least = bounds.known_least;
    greatest = bounds.known_greatest;
    if (least > greatest || groups == 0 || (uint64_t)greatest - (uint64_t)least >= most / groups)
        return;
    counted->first = least;
    counted->range = (size_t)((uint64_t)greatest - (uint64_t)least) + 1;
    counted->stride = groups * counted->range;
}

/* Counts the values that a tally has listed, for itself and others, and frees the lists; or does
   nothing where they are no INTEGERs, too far apart, or asked for more than positions. Returns as
   the others do; the room is to be freed after failures too. */
static enum clr_scan_outcome count_lists(struct counted *counted, struct clr_groups *groups,
                                         int lister, const struct clr_group_team *team)
{
    struct counting counting = {.counted = counted, .groups = groups, .tally = lister};
    enum clr_scan_outcome outcome;
    size_t count = 0;
    int part;

    *counted = (struct counted){.parts = groups->part_count};
    for (part = 0; part < groups->part_count; part++) {
        if (list_of(groups, part, lister, CLR_LIST_REALS)->count > 0)
            return CLR_SCAN_DONE;
        count += list_of(groups, part, lister, CLR_LIST_INTEGERS)->count;
    }
    if (groups->count > MOST || !asks_for_positions(groups, lister))
        return CLR_SCAN_DONE;
    if (!team->run(team->context, groups->part_count, find_range, &counting))
        return CLR_SCAN_STOPPED;
    choose_range(&counting, count);
    if (counted->range == 0)
        return CLR_SCAN_DONE;
    outcome = clr_room_make(&counted->room, &groups->memory,
                            (size_t)counted->parts * counted->stride * sizeof(uint32_t));
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    if (!team->run(team->context, groups->part_count, count_counted, &counting))
        return CLR_SCAN_STOPPED;
    for (part = 0; part < groups->part_count; part++)
        clr_group_list_free(list_of(groups, part, lister, CLR_LIST_INTEGERS), &groups->memory);
    return CLR_SCAN_DONE;
}

/* Returns how often a group has the value that lies so far from the first. */
static size_t count_of(const struct counted *counted, size_t group, size_t value)
{
    size_t count = 0;
    int part;

    for (part = 0; part < counted->parts; part++)
        count += counted_of(counted, part, group)[value];
    return count;
}

/* Returns how many values a group has. */
static size_t total_of(const struct counted *counted, size_t group)
{
    size_t total = 0, value;

    for (value = 0; value < counted->range; value++)
        total += count_of(counted, group, value);
    return total;
}

/* Stores the value at a rank, from 0 on, of a group, and the one that follows, or itself again at
   the end. The rank is less than the total. */
static void select_counted(const struct counted *counted, size_t group, size_t rank,
                           struct clr_value pair[2])
{
    size_t seen = 0, value, i;

    for (i = 0; i < 2; i++)
        pair[i] = (struct clr_value){.kind = CLR_KIND_NONE};
    for (value = 0; value < counted->range && pair[1].kind == CLR_KIND_NONE; value++) {
        seen += count_of(counted, group, value);
        for (i = 0; i < 2; i++)
            if (pair[i].kind == CLR_KIND_NONE && seen > rank + i)
                pair[i] =
                    (struct clr_value){.kind = CLR_KIND_INTEGER,
                                       .as.integer = (int64_t)((uint64_t)counted->first + value)};
    }
    if (pair[1].kind == CLR_KIND_NONE)
        pair[1] = pair[0];
}

/* ---- Answers. */

/* Answers to the questions of a tally, for one group after the other. */
struct answering {
    struct clr_groups *groups;
    const struct clr_scan *scan;
    const struct arranged *arranged;
    const struct counted *counted; /* NULL: the values are arranged */
    const int64_t *first;          /* of all INTEGERs that are arranged */
    int tally;
    const atomic_bool *stop;
    uint64_t *keys, *scratch; /* room for FEW_VALUES */
};

enum { FEW_VALUES = 4096 };

/* The values of one group. */
struct asked {
    const struct answering *answering;
    size_t group;
    struct values_of_group integers, reals;
    bool few;    /* numbers of one type, whose keys are in answering->keys: */
    bool sorted; /* in order */
    struct clr_run runs[2];
    const struct clr_run *starts[2];
    struct clr_portions portions;
};

/* Work on the one portion that a group is, by the thread that has the group. */
static bool run_portion(void *context, int count, clr_portion_work *work, void *argument)
{
    const atomic_bool *stop = context;
    int i;

    for (i = 0; i < count; i++)
        work(argument, i, stop);
    return !clr_portion_stops(stop);
}

static void set_runs(struct asked *asked)
{
    asked->runs[0] = (struct clr_run){.next = &asked->runs[1],
                                      .kind = CLR_KIND_INTEGER,
                                      .values = asked->integers.x,
                                      .count = asked->integers.count};
    asked->runs[1] = (struct clr_run){
        .kind = CLR_KIND_REAL, .values = asked->reals.x, .count = asked->reals.count};
    asked->starts[0] = &asked->runs[0];
    asked->starts[1] = NULL;
    asked->portions = (struct clr_portions){1, asked->starts, run_portion,
                                            (void *)(uintptr_t)asked->answering->stop};
}

/* Makes keys of the values if they are few, and numbers of one type. */
static void key_few(struct asked *asked, bool sorts)
{
    const bool real = asked->reals.count > 0;
    const struct values_of_group *values = real ? &asked->reals : &asked->integers;
    uint64_t *keys = asked->answering->keys;
    size_t i;

    asked->few =
        values->count > 0 && values->count <= FEW_VALUES && (!real || asked->integers.count == 0);
    asked->sorted = asked->few && sorts;
    if (!asked->few)
        return;
    for (i = 0; i < values->count; i++)
        keys[i] = real ? (uint64_t)clr_real_to_key(values->x[i]) ^ CLR_KEY_SIGN
                       : clr_integer_to_key(values->x[i]);
    if (sorts)
        clr_radix_sort(keys, asked->answering->scratch, values->count);
}

static struct clr_value value_of(const struct asked *asked, uint64_t key)
{
    return clr_sort_key_to_value(asked->reals.count > 0 ? CLR_KIND_REAL : CLR_KIND_INTEGER,
                                 (int64_t)(key ^ CLR_KEY_SIGN));
}

static struct clr_value *answer_of(const struct asked *asked, int question)
{
    return (struct clr_value *)asked->answering->groups->answers[question].values.start +
           asked->group;
}

static bool has_infinity(const struct asked *asked)
{
    const int64_t bits = clr_bits_of(INFINITY);
    bool has = false;
    size_t i;

    for (i = 0; i < asked->reals.count; i++)
        has |= (asked->reals.x[i] & INT64_MAX) == bits;
    return has;
}

static enum clr_scan_outcome find_position(const struct asked *asked,
                                           const struct clr_question *question,
                                           struct clr_value *answer)
{
    const struct counted *counted = asked->answering->counted;
    const size_t count = counted != NULL ? total_of(counted, asked->group)
                                         : asked->integers.count + asked->reals.count;
    struct clr_position position;
    struct clr_value found[1][2];
    enum clr_code code = CLR_OK;

    *answer = (struct clr_value){.kind = CLR_KIND_NONE};
    if (count == 0)
        return CLR_SCAN_DONE;
    position = clr_percentile_position(question->fraction, count);
    if (counted != NULL) {
        select_counted(counted, asked->group, position.rank, found[0]);
    } else if (asked->few) {
        const struct answering *answering = asked->answering;
        const uint64_t *keys = answering->keys;
        const size_t next = position.rank + 1 < count ? position.rank + 1 : position.rank;
        uint64_t pair[2] = {keys[position.rank], keys[next]};

        if (!asked->sorted)
            clr_few_select(keys, answering->scratch, count, position.rank, pair);
        found[0][0] = value_of(asked, pair[0]);
        found[0][1] = value_of(asked, pair[1]);
    } else {
        code = clr_portions_select(&asked->portions, &position.rank, 1, found);
    }
    if (code != CLR_OK)
        return clr_scan_outcome_of(code);
    answer->kind = CLR_KIND_REAL;
    answer->as.real =
        clr_percentile_at(found[0], position.beyond, question->kind == CLR_ASK_BETWEEN);
    return CLR_SCAN_DONE;
}

static bool is_zero(const struct clr_value *value)
{
    return value->kind == CLR_KIND_REAL && value->as.real == 0.0;
}

/* Of sorted keys; -0.0 comes right before 0.0, and both are one value. */
static void count_sorted(const struct asked *asked, struct clr_distinct_result *result)
{
    const uint64_t *keys = asked->answering->keys;
    const size_t count = asked->integers.count + asked->reals.count;
    size_t i, end;

    *result = (struct clr_distinct_result){0, 0, {.kind = CLR_KIND_NONE}};
    for (i = 0; i < count; i = end) {
        struct clr_value value = value_of(asked, keys[i]);

        for (end = i; end < count && keys[end] == keys[i]; end++)
            continue;
        if (is_zero(&value)) {
            value.as.real = 0.0;
            while (end < count && keys[end] == clr_double_to_key(0.0))
                end++;
        }
        result->size++;
        if (end - i > result->count) {
            result->count = end - i;
            result->mode = value;
        }
    }
}

/* Whatever they are. */
static enum clr_code count_any(const struct asked *asked, bool mode,
                               struct clr_distinct_result *result)
{
    struct clr_groups *groups = asked->answering->groups;
    const int64_t left = (int64_t)atomic_load(&groups->memory.left);

    return clr_portions_distinct(&asked->portions, mode, left < 0 ? 0 : (uint64_t)left,
                                 groups->plan.seed, result);
}

static enum clr_scan_outcome count_different(const struct asked *asked, bool modes)
{
    const struct clr_scan *scan = asked->answering->scan;
    struct clr_distinct_result result;
    enum clr_code code = CLR_OK;
    int i;

    if (asked->sorted)
        count_sorted(asked, &result);
    else
        code = count_any(asked, modes, &result);
    if (code != CLR_OK)
        return clr_scan_outcome_of(code);
    for (i = 0; i < scan->question_count; i++) {
        const struct clr_question *question = &scan->questions[i];

        if (question->tally != asked->answering->tally)
            continue;
        if (question->kind == CLR_ASK_DISTINCT)
            *answer_of(asked, i) =
                (struct clr_value){.kind = CLR_KIND_INTEGER, .as.integer = (int64_t)result.size};
        else if (question->kind == CLR_ASK_MODE)
            *answer_of(asked, i) =
                result.count > 0 ? result.mode : (struct clr_value){.kind = CLR_KIND_NONE};
    }
    return CLR_SCAN_DONE;
}

static enum clr_scan_outcome fill_bins(const struct asked *asked, const struct clr_bins *bins,
                                       uint64_t *counts)
{
    const struct clr_run *run;
    size_t i, count;

    for (run = asked->starts[0]; run != NULL; run = run->next) {
        for (i = 0; i < run->count; i += count) {
            if (clr_portion_stops(asked->answering->stop))
                return CLR_SCAN_STOPPED;
            count = run->count - i < PIECE ? run->count - i : PIECE;
            clr_bins_add(bins, run->kind, clr_run_values(run, i, count, NULL), count, 1, counts);
        }
    }
    return CLR_SCAN_DONE;
}

static enum clr_scan_outcome list_values(const struct asked *asked,
                                         const struct clr_question *question,
                                         const struct clr_gathered_answer *answer)
{
    const struct values_of_group *values = &asked->integers;
    struct clr_listed *listed = (struct clr_listed *)answer->lists.start + asked->group;

    *listed = (struct clr_listed){0, 0};
    if (asked->reals.count > 0 || values->count > UINT32_MAX)
        return CLR_SCAN_UNSURE;
    if (values->count == 0)
        return CLR_SCAN_DONE;
    *listed = (struct clr_listed){(size_t)(values->x - asked->answering->first), values->count};
    return clr_group_list(question, values->x, values->y != NULL ? values->y : values->x,
                          &listed->count, (int64_t *)answer->numbers.start + listed->first,
                          &asked->answering->groups->memory, asked->answering->stop);
}

/* Answers the questions of a tally for a group. */
static enum clr_scan_outcome answer_group(const struct answering *answering, size_t group)
{
    const struct clr_scan *scan = answering->scan;
    struct asked asked = {.answering = answering, .group = group};
    bool positions = false, different = false, modes = false;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    asked.integers = get_arranged(answering->arranged, CLR_LIST_INTEGERS, group);
    asked.reals = get_arranged(answering->arranged, CLR_LIST_REALS, group);
    for (i = 0; i < scan->question_count; i++) {
        const struct clr_question *question = &scan->questions[i];

        if (question->tally != answering->tally)
            continue;
        positions = positions || question->kind == CLR_ASK_BETWEEN || question->kind == CLR_ASK_AT;
        different =
            different || question->kind == CLR_ASK_DISTINCT || question->kind == CLR_ASK_MODE;
        modes = modes || question->kind == CLR_ASK_MODE;
    }
    if (positions && has_infinity(&asked))
        return CLR_SCAN_UNSURE;
    set_runs(&asked);
    if (positions || different)
        key_few(&asked, different);
    if (different)
        outcome = count_different(&asked, modes);
    for (i = 0; i < scan->question_count && outcome == CLR_SCAN_DONE; i++) {
        const struct clr_question *question = &scan->questions[i];

        if (question->tally != answering->tally)
            continue;
        if (question->kind == CLR_ASK_BETWEEN || question->kind == CLR_ASK_AT)
            outcome = find_position(&asked, question, answer_of(&asked, i));
        else if (question->kind == CLR_ASK_VALUES)
            outcome = list_values(&asked, question, &answering->groups->answers[i]);
        else if (question->kind == CLR_ASK_BINS)
            outcome = fill_bins(&asked, &question->bins,
                                (uint64_t *)answering->groups->answers[i].counts.start +
                                    group * ((size_t)question->bins.count + 2));
    }
    return outcome;
}

/* ---- All. */

/* What workers share. */
struct gathering {
    struct clr_groups *groups;
    const struct arranged *arranged;
    const struct counted *counted;
    int tally;
    bool sums, asks;
    atomic_size_t next; /* group */
    atomic_int outcome; /* the first one that is not CLR_SCAN_DONE */
};

static enum clr_scan_outcome reduce(const struct gathering *gathering, size_t group,
                                    struct clr_state *state, const atomic_bool *stop)
{
    const enum clr_operation operation =
        gathering->groups->plan.tallies[gathering->tally].operations & 1u << CLR_DOT ? CLR_DOT
                                                                                     : CLR_SUM;
    size_t i, count;
    int kind;

    for (kind = CLR_LIST_INTEGERS; kind <= CLR_LIST_REALS; kind++) {
        const struct values_of_group values =
            get_arranged(gathering->arranged, (enum clr_group_list_kind)kind, group);

        for (i = 0; i < values.count; i += count) {
            if (clr_portion_stops(stop))
                return CLR_SCAN_STOPPED;
            count = values.count - i < LARGE ? values.count - i : LARGE;
            clr_host_reduce_arrays(operation, kind == CLR_LIST_REALS ? CLR_REAL : CLR_INTEGER,
                                   values.x + i, (values.y == NULL ? values.x : values.y) + i,
                                   count, state);
        }
    }
    return CLR_SCAN_DONE;
}

static enum clr_scan_outcome do_group(const struct gathering *gathering,
                                      const struct answering *answering, size_t group,
                                      struct clr_state *state)
{
    struct clr_groups *groups = gathering->groups;
    struct clr_kept_sum *sums = groups->sums[gathering->tally].sums.start;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (clr_portion_stops(answering->stop))
        return CLR_SCAN_STOPPED;
    if (gathering->sums) {
        clr_state_clear(state);
        outcome = reduce(gathering, group, state, answering->stop);
        if (outcome == CLR_SCAN_DONE)
            outcome = clr_kept_sum_store(&sums[group], &groups->memory, &state->sum);
    }
    if (outcome == CLR_SCAN_DONE && gathering->asks)
        outcome = answer_group(answering, group);
    return outcome;
}

static void do_groups(void *argument, int worker, const atomic_bool *stop)
{
    struct gathering *gathering = argument;
    const struct arranged_list *integers = &gathering->arranged->lists[CLR_LIST_INTEGERS];
    struct answering answering = {.groups = gathering->groups,
                                  .scan = gathering->groups->plan.scan,
                                  .arranged = gathering->arranged,
                                  .counted = gathering->counted,
                                  .first = integers->x.start,
                                  .tally = gathering->tally,
                                  .stop = stop};
    uint64_t *keys = clr_memory_alloc(2 * FEW_VALUES * sizeof *keys);
    enum clr_scan_outcome outcome = keys == NULL ? CLR_SCAN_FAILED : CLR_SCAN_DONE;
    struct clr_state state;
    size_t group = 0, end = 0;

    (void)worker;
    answering.keys = keys;
    answering.scratch = keys + FEW_VALUES;
    while (outcome == CLR_SCAN_DONE &&
           atomic_load_explicit(&gathering->outcome, memory_order_relaxed) == CLR_SCAN_DONE) {
        if (group == end) {
            group = atomic_fetch_add(&gathering->next, CHUNK);
            end = group + CHUNK;
        }
        if (group >= gathering->groups->count)
            break;
        outcome = do_group(gathering, &answering, group++, &state);
    }
    if (outcome != CLR_SCAN_DONE)
        atomic_store(&gathering->outcome, (int)outcome);
    clr_memory_free(keys);
}

/* Makes room for the answers to the questions of a tally. Stores whether there are any. */
static enum clr_scan_outcome make_answers(struct clr_groups *groups, int tally,
                                          const struct arranged *arranged, bool *asks)
{
    const uint32_t *starts = arranged->lists[CLR_LIST_INTEGERS].starts.start;
    const struct clr_scan *scan = groups->plan.scan;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    *asks = false;
    for (i = 0; i < scan->question_count && outcome == CLR_SCAN_DONE; i++) {
        const struct clr_question *question = &scan->questions[i];
        struct clr_gathered_answer *answer = &groups->answers[i];

        if (question->tally != tally)
            continue;
        *asks = true;
        if (question->kind == CLR_ASK_BINS) {
            answer->bins = (size_t)question->bins.count;
            if (groups->count > SIZE_MAX / sizeof(uint64_t) / (answer->bins + 2))
                return CLR_SCAN_LIMIT;
            outcome = clr_room_make(&answer->counts, &groups->memory,
                                    groups->count * (answer->bins + 2) * sizeof(uint64_t));
        } else if (question->kind == CLR_ASK_VALUES) {
            outcome = clr_room_make(&answer->lists, &groups->memory,
                                    groups->count * sizeof(struct clr_listed));
            if (outcome == CLR_SCAN_DONE && starts != NULL)
                outcome = clr_room_make(&answer->numbers, &groups->memory,
                                        starts[groups->count] * sizeof(int64_t));
        } else {
            outcome = clr_room_make(&answer->values, &groups->memory,
                                    groups->count * sizeof(struct clr_value));
        }
    }
    return outcome;
}

/* Makes the sums, and answers the questions, of a tally whose values are arranged. */
static enum clr_scan_outcome gather(struct clr_groups *groups, int tally,
                                    const struct arranged *arranged, const struct counted *counted,
                                    const struct clr_group_team *team)
{
    struct gathering gathering = {.groups = groups,
                                  .arranged = arranged,
                                  .counted = counted->range > 0 ? counted : NULL,
                                  .tally = tally,
                                  .sums = groups->plan.tallies[tally].gathers_sum};
    const size_t chunks = groups->count / CHUNK + 1;
    const int workers = chunks < (size_t)team->size ? (int)chunks : team->size;
    enum clr_scan_outcome outcome;

    atomic_init(&gathering.next, 0);
    atomic_init(&gathering.outcome, CLR_SCAN_DONE);
    outcome = make_answers(groups, tally, arranged, &gathering.asks);
    if (outcome == CLR_SCAN_DONE && gathering.sums) {
        outcome = clr_room_make(&groups->sums[tally].sums, &groups->memory,
                                groups->count * sizeof(struct clr_kept_sum));
        groups->sums[tally].count = outcome == CLR_SCAN_DONE ? groups->count : 0;
    }
    if (outcome == CLR_SCAN_DONE && !team->run(team->context, workers, do_groups, &gathering))
        outcome = CLR_SCAN_STOPPED;
    if (outcome == CLR_SCAN_DONE)
        outcome = (enum clr_scan_outcome)atomic_load(&gathering.outcome);
    return outcome;
}

/* The same for all tallies whose values a tally has listed. */
static enum clr_scan_outcome gather_listed(struct clr_groups *groups, int lister,
                                           const struct clr_group_team *team)
{
    const struct clr_group_tally *tallies = groups->plan.tallies;
    struct arranged arranged = {0};
    struct counted counted;
    enum clr_scan_outcome outcome = count_lists(&counted, groups, lister, team);
    int i;

    if (outcome == CLR_SCAN_DONE && counted.range == 0)
        outcome = arrange_lists(&arranged, groups, lister, team);

    for (i = lister; i < groups->plan.tally_count && outcome == CLR_SCAN_DONE; i++)
        if (tallies[i].gathers && tallies[i].gathered_by == lister)
            outcome = gather(groups, i, &arranged, &counted, team);
    free_arranged(&arranged, &groups->memory);
    clr_room_free(&counted.room, &groups->memory);
    return outcome;
}

enum clr_scan_outcome clr_groups_gather(struct clr_groups *groups,
                                        const struct clr_group_team *team)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    for (i = 0; i < groups->plan.tally_count && outcome == CLR_SCAN_DONE; i++)
        if (groups->plan.tallies[i].gathers && groups->plan.tallies[i].gathered_by == i)
            outcome = gather_listed(groups, i, team);
    return outcome;
}
