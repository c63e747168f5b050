/*
 * The kernel that adds rows to the records in global memory, for more places than local memory has
 * room for. Atomics there take the longer the more requests they are, and neighbours that add to
 * words beside each other are one: so what rows add is put down in local memory, from where
 * neighbours take the words of one record. Follows group_rows.cl.
 */
#undef COUNT
#undef ADD
#undef MOST
#define COUNT(word) addends[word]++
#define ADD(word, wide, value) addends[word] += value
#if MOSTS > 0
#define MOST(word, value)                                                                          \
    KEEP_MOST((volatile __global ulong *)records + (ulong)place * WORDS + (word), value)
#else
#define MOST(word, value)
#endif

/* Words of a row that are put down at a time: those of a sector of a cache are four. */
#define STAGED (ADDS < 4 ? ADDS : 4)

/* As group_rows_locally. place_count is places, copies is 1, and local_memory has room for four
   numbers and a place of each work-item. */
__kernel void group_rows_globally(ROW_FORMALS ulong first_row, ulong rows,
                                  __constant long *parameters, uint places, uint place_count,
                                  uint copies, __global ulong *records, __global ulong *spills,
                                  uint spill_room, uint second_round, __local ulong *local_memory)
{
    row_doubts doubts = {0, 0, 0};
    volatile __global uint *flags = FLAGS_BEHIND(records, places);
    uint item = get_local_id(0), size = get_local_size(0);
    __local ulong *staged = local_memory;
    __local uint *staged_places = (__local uint *)(local_memory + STAGED * size);
    BEGIN_ROWS(first_row, first_row + rows, get_group_id(0) * size, get_global_size(0))

    FOR_EACH_BATCH
    {
        BEGIN_BATCH
        doubts.flags |= in_doubt ? UNSURE_ROW : 0;
#if !QUEUED
#pragma unroll
#endif
        FOR_EACH_ROUND
        {
            ulong addends[ADDS] = {0};
            uint place = NOWHERE;
            BEGIN_ROUND
            if (has_row) {
                LOAD_ROW
                ROW_BODY
                FIND_PLACE
                if (place < places)
                    TAKE_ROW
            }
            staged_places[item] = place;
#pragma unroll
            for (uint first = 0; first < ADDS; first += STAGED) {
#pragma unroll
                for (uint word = 0; word < STAGED; word++)
                    staged[item * STAGED + word] =
                        first + word < ADDS ? addends[min(first + word, ADDS - 1u)] : 0;
                barrier(CLK_LOCAL_MEM_FENCE);
                for (uint at = item; at < STAGED * size; at += size) {
                    ulong record = (ulong)staged_places[at / STAGED] * WORDS;
                    if (staged[at] != 0)
                        ADD_TO_RECORD(records, record + first + at % STAGED, staged[at]);
                }
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }
        END_BATCH
    }
    tell_doubts(doubts, flags);
}
