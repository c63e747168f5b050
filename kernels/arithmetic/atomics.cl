/*
 * Adds to one of the 64-bit numbers that lie in pairs of words, low and high, with 32-bit atomics
 * alone, which every device has: the old low half tells this addition's own carry, and the carries
 * of all additions add up to the exact one in any order.
 */
#define DEFINE_ATOMIC_ADD_64(name, space)                                                          \
    void name(volatile space uint *words, uint number, ulong value)                                \
    {                                                                                              \
        uint low = (uint)value, high = (uint)(value >> 32);                                        \
        if (low != 0 && atomic_add(words + 2 * number, low) > ~low)                                \
            high++;                                                                                \
        if (high != 0)                                                                             \
            atomic_add(words + 2 * number + 1, high);                                              \
    }
