/*
 * Exact sums on a CPU device, a block of vectors at a time, so that what an expansion can't hold is
 * looked for once a block. Follows exact.cl, before the operation's file, which says in
 * block_take() and running_take_carefully() what is added up.
 *
 * A block is tried in three ways, each of which either is exact or leaves everything as it was:
 *
 * 1. Numbers that are kept large by a bias: a sum of two takes 3 operations instead of TwoSum's 6
 *    where the greater one is known (FastTwoSum: Dekker 1971; the bias: Demmel and Nguyen, "Fast
 *    reproducible floating-point summation", 2013). Each number takes the errors of the one before
 *    it; the last one must make no error.
 * 2. The expansion of 3 terms, whatever the order of magnitudes; its last term must make no error.
 * 3. The long accumulator, value by value.
 */
#if LANES > 1
#define BLOCK 32

/*
 * The biases are 2^16 times the block's values, and 2^-42 times each other: so large that sums
 * seldom bring a number near zero, and not so large that they cost bits at the lower end.
 */
#define BIAS 0x1p16
#define NEXT_BIAS 0x1p-42

/*
 * What FastTwoSum needs at every step of a block follows from the numbers at its end: one that has
 * taken n values below m, and ends at (n + 1) m or more, was never below m. The first number takes
 * BLOCK values; the next ones take 2 BLOCK errors at most, none above 2^-52 times the number
 * before, at its end. Both factors are rounded up, which leaves room for the sums' own rounding.
 */
#define FIRST_FACTOR 64
#define NEXT_FACTOR 0x1p-45

/* Squares tell sizes in one operation: they need to stay clear of overflow and underflow. */
#define SQUARE_LIMIT 0x1p960
#define SQUARE_FLOOR 0x1p-960

/*
 * A processor that has this much to do for a value does not look far enough ahead by itself.
 * PoCL's prefetch() does nothing; the compiler's own, which may point past the values, does.
 */
#define AHEAD 512
#if defined(__has_builtin)
#if __has_builtin(__builtin_prefetch)
#define PREFETCH(address) __builtin_prefetch((const void *)(ulong)((address) + AHEAD))
#endif
#endif
#ifndef PREFETCH
#define PREFETCH(address) prefetch((address) + AHEAD, 1)
#endif

#define FAST_TWO_SUM(a, b, error)                                                                  \
    do {                                                                                           \
        lanes b_ = (b), sum_ = (a) + b_;                                                           \
        error = b_ - (sum_ - (a));                                                                 \
        a = sum_;                                                                                  \
    } while (0)

/* Adds b to a, and sets bits of dropped, others than signs, if that was not exact. */
#define ADD_LAST(a, b, dropped)                                                                    \
    do {                                                                                           \
        lanes sum_ = (a) + (b);                                                                    \
        dropped |= as_long8(sum_ - (a)) ^ as_long8(b);                                             \
        a = sum_;                                                                                  \
    } while (0)

/* As partial_add(), for every lane, and with dropped as above. */
#define EXPANSION_ADD(sum, b, dropped)                                                             \
    do {                                                                                           \
        lanes error_;                                                                              \
        TWO_SUM(lanes, (sum)->first, b, (sum)->first, error_);                                     \
        TWO_SUM(lanes, (sum)->second, error_, (sum)->second, error_);                              \
        TWO_SUM(lanes, (sum)->third, error_, (sum)->third, error_);                                \
        dropped |= as_long8(error_);                                                               \
    } while (0)

typedef struct {
    lanes number[NUMBERS];
    lanes squares;      /* the sum of those of the values */
    lanes least;        /* the size of the least product */
    lanes_long dropped; /* not zero: something was not exact; signs don't count */
} block;

void block_take(block *b, lanes x, lanes y);
lanes_long underflows(lanes x, lanes y);
lanes_long running_take_carefully(running *sum, lanes x, lanes y);
void wide_take(__local uint *wide, lanes x, lanes y);

int is_zero(lanes_long dropped)
{
    return !ANY((dropped & LONG_MAX) != 0);
}

int block_is_exact(const block *b)
{
    lanes first = b->number[0];
    lanes_long right = (b->squares < SQUARE_LIMIT) &
                       (first * first >= FIRST_FACTOR * FIRST_FACTOR * b->squares) &
                       ((b->dropped & LONG_MAX) == 0);
    uint i;

#pragma unroll
    for (i = 1; i < NUMBERS; i++)
        right &= fabs(b->number[i]) >= NEXT_FACTOR * fabs(b->number[i - 1]);
    return !ANY(~right);
}

/* Moves the numbers' sum to the expansion, and gives them a bias that fits the squares. */
void running_bias(running *sum, lanes squares, __local uint *wide)
{
    lanes old = sum->bias, new = squares < SQUARE_LIMIT ? sqrt(squares) * BIAS : 0;
    uint i;

    sum->bias = new;
    for (i = 0; i < NUMBERS; i++) {
        running_add(sum, sum->number[i], wide);
        running_add(sum, -old, wide);
        sum->number[i] = new;
        old *= NEXT_BIAS;
        new *= NEXT_BIAS;
    }
}

/* Stores the squares' sum in *squares, and returns whether the block was added. */
int take_quickly(running *sum, __global const double *x, __global const double *y, lanes *squares)
{
    block b;
    uint i;

#pragma unroll
    for (i = 0; i < NUMBERS; i++)
        b.number[i] = sum->number[i];
    b.squares = SQUARE_FLOOR;
    b.dropped = 0;
    b.least = 1;
#pragma unroll
    for (i = 0; i < BLOCK; i++) {
        PREFETCH(x + i * LANES);
#if OPERANDS == 2
        PREFETCH(y + i * LANES);
#endif
        block_take(&b, LOAD_LANES(x, i * LANES), LOAD_LANES(y, i * LANES));
    }
    *squares = b.squares;
    /* Zeros are more likely than products so small that their error is none of a double. */
    if (ANY(b.least < PRODUCT_FLOOR)) {
        for (i = 0; i < BLOCK; i++)
            b.dropped |= underflows(LOAD_LANES(x, i * LANES), LOAD_LANES(y, i * LANES));
    }
    if (!block_is_exact(&b))
        return 0;
#pragma unroll
    for (i = 0; i < NUMBERS; i++)
        sum->number[i] = b.number[i];
    return 1;
}

int take_carefully(running *sum, __global const double *x, __global const double *y)
{
    running tried;
    lanes_long dropped = 0;
    uint i;

    tried.first = sum->first;
    tried.second = sum->second;
    tried.third = sum->third;
    for (i = 0; i < BLOCK; i++)
        dropped |=
            running_take_carefully(&tried, LOAD_LANES(x, i * LANES), LOAD_LANES(y, i * LANES));
    if (!is_zero(dropped))
        return 0;
    sum->first = tried.first;
    sum->second = tried.second;
    sum->third = tried.third;
    return 1;
}

/*
 * Adds BLOCK vectors. After a block that the numbers can't hold, the next ones are likely to be as
 * wide: they are tried again after twice as many blocks each time.
 */
void running_take_block(running *sum, __global const double *x, __global const double *y,
                        __local uint *wide)
{
    lanes squares;
    uint i;

    if (sum->waiting > 0) {
        sum->waiting--;
    } else if (take_quickly(sum, x, y, &squares)) {
        sum->wait = 0;
        return;
    } else {
        running_bias(sum, squares, wide);
        if (take_quickly(sum, x, y, &squares)) {
            sum->wait = 0;
            return;
        }
        sum->wait = min(2 * sum->wait + 1, 63u);
        sum->waiting = sum->wait;
    }
    if (take_carefully(sum, x, y))
        return;
    for (i = 0; i < BLOCK; i++)
        wide_take(wide, LOAD_LANES(x, i * LANES), LOAD_LANES(y, i * LANES));
}
#endif
