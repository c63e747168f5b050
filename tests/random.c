#include "random.h"

#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint64_t random_state = 1;

void random_start(void)
{
    const char *text = getenv("CLREDUCE_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 1;

    tap_diag("CLREDUCE_SEED=%" PRIu64, seed);
    /* An odd multiplier: different seeds stay different; zero is no state of the generator. */
    random_state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    if (random_state == 0)
        random_state = 1;
}

uint64_t random_bits(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * UINT64_C(2685821657736338717);
}

uint64_t random_below(uint64_t limit)
{
    return (random_bits() >> 1) % limit;
}

int random_pick(int count)
{
    return (int)random_below((uint64_t)count);
}

int random_between(int low, int high)
{
    return low + (int)random_below((uint64_t)(high - low) + 1);
}

double random_compose(uint64_t sign, uint64_t biased, uint64_t significand)
{
    uint64_t bits = sign << 63 | biased << 52 | (significand & 0xfffffffffffff);
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

double random_finite(void)
{
    return random_compose(random_bits() >> 63, random_below(2047), random_bits());
}

double random_hard(int low, int high)
{
    uint64_t significand = random_bits();

    switch (random_below(8)) {
    case 0:
        significand = 0;
        break;
    case 1:
        significand = UINT64_MAX;
        break;
    case 2:
        significand &= 3;
        break;
    case 3:
        significand |= ~(uint64_t)3;
        break;
    case 4:
        significand = (uint64_t)1 << random_below(52);
        break;
    default:
        break;
    }
    return random_compose(random_bits() >> 63, (uint64_t)random_between(low, high), significand);
}

int64_t random_integer(void)
{
    uint64_t size = random_bits() >> random_below(64);
    switch (random_below(16)) {
    case 0:
        return INT64_MIN;
    case 1:
        return INT64_MAX;
    default:
        return (int64_t)(random_bits() & 1 ? size : -size);
    }
}
