/*
 * What a scan's rows add to the records of their groups: see ext/numeric/grouping/plan.h, whose
 * words these are. Follows filter.cl, digits.cl and the text that ext/opencl/scan/row_text.c
 * makes, which defines:
 *
 * ROW_FORMALS: as scan.cl has them; ROW_BODY: as row.cl has it, of a row that has passed the filter
 * KEYS: how many keys there are; FOR_EACH_KEY(X): X(number, register) for each
 * FOR_EACH_TALLY(X): X(number, filter, x, y, ...) for each, with what TALLY has below
 * ADDS, MOSTS: words of a record that are added, and then those of which the greatest stays
 * WIDES: how many of the added words are no counts
 * FOR_EACH_ADD(X): X(word, its number among these, or NARROW) for each of the added words;
 * FOR_EACH_MOST(X): X(word) for each of the others
 * IN_RUNS: whether a work-item adds up the rows of one place that it takes one after the other
 * BY_FIRST: whether the last word is the one that tells the group's first row
 *
 * Defined by the host: HALVES (1: the device has no atomic maximum of 64 bits). There rows are gone
 * through in two rounds if words have their greatest value: in the first one all is added, and the
 * greatest upper half of such a word stays; in the second one the greatest lower half of those that
 * have this upper half.
 */
#define WORDS (ADDS + MOSTS)
#define NARROW 255
#define WIDE_NUMBER(word, wide) wide,
__constant uchar wide_numbers[ADDS] = {FOR_EACH_ADD(WIDE_NUMBER)};

#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define ADD_TO_RECORD(records, number, value)                                                      \
    atom_add((volatile __global ulong *)(records) + (number), value)
#else
DEFINE_ATOMIC_ADD_64(add_to_record, __global)
#define ADD_TO_RECORD(records, number, value)                                                      \
    add_to_record((volatile __global uint *)(records), (uint)(number), value)
#endif
/* Keeps the greater one of a word and a value. */
#if HALVES
#define IN_SECOND_ROUND (second_round != 0)
#define DEFINE_ATOMIC_MAX_64(name, space)                                                          \
    void name(volatile space ulong *number, ulong value, uint second_round)                        \
    {                                                                                              \
        volatile space uint *halves = (volatile space uint *)number;                               \
        uint high = (uint)(value >> 32);                                                           \
        if (!second_round)                                                                         \
            atomic_max(halves + 1, high);                                                          \
        else if (halves[1] == high)                                                                \
            atomic_max(halves, (uint)value);                                                       \
    }
DEFINE_ATOMIC_MAX_64(keep_most, __global)
DEFINE_ATOMIC_MAX_64(keep_most_locally, __local)
#define KEEP_MOST(number, value) keep_most(number, value, second_round)
#define KEEP_MOST_LOCALLY(number, value) keep_most_locally(number, value, second_round)
#else
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define IN_SECOND_ROUND 0
#define KEEP_MOST(number, value) atom_max(number, value)
#define KEEP_MOST_LOCALLY(number, value) atom_max(number, value)
#endif

/* parameters: 4 numbers of each key, then 4 of each tally. The place of an INTEGER is KEY_START and
   KEY_FACTOR times it, modulo 2^32, and that of NULL is KEY_NULL; an INTEGER that is more than
   KEY_REACH above KEY_FIRST, or below it, has none. */
#define KEY_FIRST(number) parameters[4 * (number)]
#define KEY_REACH(number) (ulong) parameters[4 * (number) + 1]
#define KEY_START(number) (uint) parameters[4 * (number) + 2]
#define KEY_NULL(number) (uint)(parameters[4 * (number) + 2] >> 32)
#define KEY_FACTOR(number) (uint) parameters[4 * (number) + 3]
#define WINDOW_HIGH(number) parameters[4 * (KEYS + (number))]
#define WINDOW_LOW(number) parameters[4 * (KEYS + (number)) + 1]
#define WINDOW_LIMIT(number) parameters[4 * (KEYS + (number)) + 2]
#define INTEGER_LIMIT(number) parameters[4 * (KEYS + (number)) + 3]

/* ---- What has turned out to be another way than planned. */

/* `flags` lie behind the records. Their words, and the bits of the first one. */
#define FLAGS_BEHIND(records, places) (volatile __global uint *)((records) + (ulong)(places)*WORDS)
#define DOUBTS_WORD 0
#define TYPES_WORD 1   /* a bit for each tally with other types */
#define SPILLS_WORD 2  /* how many there are */
#define SPILLED_WORD 3 /* a bit for each tally with spills */
#define UNSURE_ROW 1
#define NO_PLACE 2

typedef struct {
    uint flags, types, spilled;
} row_doubts;

void tell_doubts(row_doubts doubts, volatile __global uint *flags)
{
    if (doubts.flags != 0)
        atomic_or(flags + DOUBTS_WORD, doubts.flags);
    if (doubts.types != 0)
        atomic_or(flags + TYPES_WORD, doubts.types);
    if (doubts.spilled != 0)
        atomic_or(flags + SPILLED_WORD, doubts.spilled);
}

/* ---- Rows. */

/* ---- Places. */

/* The place of a row that is in no group. */
#define NOWHERE 0xffffffff

/* Stores the place of the row whose registers there are in place. */
#define FIND_PLACE                                                                                 \
    int outside = 0;                                                                               \
    place = 0;                                                                                     \
    FOR_EACH_KEY(KEY)                                                                              \
    if (outside) {                                                                                 \
        doubts.flags |= NO_PLACE;                                                                  \
        place = NOWHERE;                                                                           \
    }

#define KEY(number, value)                                                                         \
    if (value.tag == VALUE_INTEGER) {                                                              \
        outside |= (ulong)value.bits - (ulong)KEY_FIRST(number) > KEY_REACH(number);               \
        place += KEY_START(number) + (uint)value.bits * KEY_FACTOR(number);                        \
    } else {                                                                                       \
        outside |= value.tag != VALUE_NULL;                                                        \
        place += KEY_NULL(number);                                                                 \
    }

/* ---- Tallies. */

#define TALLY_COUNTS 1
#define TALLY_INTEGERS 2 /* all operands are */
#define TALLY_MISSES 4
#define TALLY_UNSURE 8
#define TALLY_OTHER_TYPE 16

/* Returns what a row is for a tally. unsure_from: the least tag that it is not sure of. */
uint look_at_tally(scalar filter, scalar x, scalar y, uint x_types, uint y_types, int unsure_from)
{
    if (scalar_is_unknown(filter))
        return TALLY_UNSURE;
    if (!scalar_is_true(filter))
        return TALLY_MISSES;
    /* In this order, which decides where one is NULL and the other unsure. */
    if (y.tag == VALUE_UNSURE || x.tag >= unsure_from)
        return TALLY_UNSURE;
    if (x.tag == VALUE_NULL)
        return TALLY_MISSES;
    if (y.tag >= unsure_from)
        return TALLY_UNSURE;
    if (y.tag == VALUE_NULL)
        return TALLY_MISSES;
    if ((x_types >> x.tag & 1) == 0 || (y_types >> y.tag & 1) == 0)
        return TALLY_OTHER_TYPE;
    return TALLY_COUNTS | (x.tag == VALUE_INTEGER && y.tag == VALUE_INTEGER ? TALLY_INTEGERS : 0);
}

/* Stores the product. Returns whether it is no greater in size than the limit. */
int multiply_within(long x, long y, long limit, long *product)
{
    *product = (long)((ulong)x * (ulong)y);
    return mul_hi(x, y) == *product >> 63 && *product <= limit && *product >= -limit;
}

/* Words whose order, as unsigned numbers, is that of the values, and 0 that of no value. */
ulong greatest_word(scalar x)
{
    long bits = x.tag == VALUE_REAL ? x.bits ^ (x.bits >> 63 & VALUE_GREATEST) : x.bits;
    return (ulong)(bits ^ VALUE_LEAST);
}

/* Adds a value, or a pair, to the list of what no record has room for, as far as that has any. */
void spill(volatile __global uint *flags, __global ulong *spills, uint room, uint tally, uint place,
           scalar x, scalar y)
{
    uint number = atomic_inc(flags + SPILLS_WORD);

    if (number >= room)
        return;
    spills += 3 * (ulong)number;
    spills[0] = place | (ulong)tally << 32 | (ulong)x.tag << 48 | (ulong)y.tag << 56;
    spills[1] = (ulong)x.bits;
    spills[2] = (ulong)y.bits;
}

#define SPILL(number, x, y)                                                                        \
    {                                                                                              \
        spill(flags, spills, spill_room, number, place, x, y);                                     \
        doubts.spilled |= 1u << number;                                                            \
    }

/*
 * x_types, y_types, unsure_from: see look_at_tally(). is_dot: its sum is of products, of INTEGERs.
 * The numbers of words, or -1: misses, others; integer, which has another word for the upper half
 * unless it is limited; real, of two; integers and reals, each of two: the least and the greatest.
 * wide, real_wide: the numbers among the wide words of integer, and of real.
 */
#define TALLY(number, own_filter, x, y, x_types, y_types, unsure_from, is_dot, misses, others,     \
              integer, is_limited, real, integers, reals, wide, real_wide)                         \
    {                                                                                              \
        uint found = look_at_tally(own_filter, x, y, x_types, y_types, unsure_from);               \
        uint added = IN_SECOND_ROUND ? 0 : found;                                                  \
        if (found & TALLY_UNSURE)                                                                  \
            doubts.flags |= UNSURE_ROW;                                                            \
        if ((found & TALLY_OTHER_TYPE) || (misses < 0 && (found & TALLY_MISSES)))                  \
            doubts.types |= 1u << number;                                                          \
        if (misses >= 0 && (added & TALLY_MISSES))                                                 \
            COUNT(misses);                                                                         \
        if (others >= 0 && (added & (TALLY_COUNTS | TALLY_INTEGERS)) == TALLY_COUNTS)              \
            COUNT(others);                                                                         \
        if (integer >= 0 && is_dot && (added & TALLY_INTEGERS)) {                                  \
            long product;                                                                          \
            if (multiply_within(x.bits, y.bits, INTEGER_LIMIT(number), &product)) {                \
                ADD(integer, wide, (ulong)product);                                                \
            } else {                                                                               \
                SPILL(number, x, y);                                                               \
            }                                                                                      \
        }                                                                                          \
        if (integer >= 0 && !is_dot && (added & TALLY_COUNTS) && x.tag == VALUE_INTEGER) {         \
            if (!is_limited) {                                                                     \
                ADD(integer, wide, (ulong)x.bits & 0xffffffff);                                    \
                ADD(integer + 1, wide + 1, (ulong)(x.bits >> 32));                                 \
            } else if (x.bits <= INTEGER_LIMIT(number) && x.bits >= -INTEGER_LIMIT(number)) {      \
                ADD(integer, wide, (ulong)x.bits);                                                 \
            } else {                                                                               \
                SPILL(number, x, scalar_of(VALUE_NULL, 0));                                        \
            }                                                                                      \
        }                                                                                          \
        if (real >= 0 && (added & TALLY_COUNTS) && x.tag == VALUE_REAL) {                          \
            ulong high, low;                                                                       \
            if (real_cut(x.bits, WINDOW_HIGH(number), WINDOW_LOW(number), WINDOW_LIMIT(number),    \
                         &high, &low)) {                                                           \
                ADD(real, real_wide, high);                                                        \
                ADD(real + 1, real_wide + 1, low);                                                 \
            } else {                                                                               \
                SPILL(number, x, scalar_of(VALUE_NULL, 0));                                        \
            }                                                                                      \
        }                                                                                          \
        if (integers >= 0 && (found & TALLY_COUNTS) && x.tag == VALUE_INTEGER) {                   \
            MOST(integers, ~greatest_word(x));                                                     \
            MOST(integers + 1, greatest_word(x));                                                  \
        }                                                                                          \
        if (reals >= 0 && (found & TALLY_COUNTS) && x.tag == VALUE_REAL) {                         \
            MOST(reals, ~greatest_word(x));                                                        \
            MOST(reals + 1, greatest_word(x));                                                     \
        }                                                                                          \
    }

/* Adds a row of a place to its record, by what COUNT, ADD and MOST are. */
#if BY_FIRST
#define TAKE_NUMBER MOST(WORDS - 1, ~row);
#else
#define TAKE_NUMBER
#endif
#define TAKE_ROW                                                                                   \
    {                                                                                              \
        if (!IN_SECOND_ROUND)                                                                      \
            COUNT(0);                                                                              \
        FOR_EACH_TALLY(TALLY)                                                                      \
        TAKE_NUMBER                                                                                \
    }
