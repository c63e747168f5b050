/*
 * Sorts the rows of each tile by the slice of the places that they belong to, for a kernel of
 * group_rows.cl whose work-groups have the records of one slice each and read no other rows. Rows
 * stay where they are: a tile gets a list of those that are in a group, by slice, and the numbers
 * where the slices start there, and where the last one ends. Follows grouping.cl.
 */

/* So many counters of a slice, each for a part of the work-items, wait less for each other. */
#define COUNTERS 8
/* Of each row: its number among those of a counter, then its slice, then its place there; the last
   number of a slice is that of rows which are in none. */
#define RANK_BITS 12
#define SLICE_BITS 5
#define IN_NO_SLICE ((1u << SLICE_BITS) - 1)

/* inverse: 2^INVERSE_BITS / place_count, and a little more. The products of places with it are
   exact enough, as places are below 2^20 and place_count is no more than 2^15. */
#define INVERSE_BITS 40

/* local_memory: room for TILE words twice, and for COUNTERS of each slice twice. A tile's list is
   at tile * TILE of lists, its starts are at tile * (slices + 1). */
__kernel void group_tiles(ROW_FORMALS ulong first_row, ulong rows, __constant long *parameters,
                          uint place_count, ulong inverse, uint slices,
                          volatile __global uint *flags, __global uint *lists,
                          __global ushort *starts, __local uint *local_memory)
{
    row_doubts doubts = {0, 0, 0};
    __local uint *found = local_memory, *list = found + TILE;
    __local uint *counts = list + TILE, *firsts = counts + COUNTERS * slices;
    uint item = get_local_id(0), step = get_local_size(0), counter = item * COUNTERS / step;
    ulong tiles = (rows + TILE - 1) / TILE;

    for (ulong tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        ulong first = tile * TILE;
        uint held = (uint)min((ulong)TILE, rows - first);

        for (uint i = item; i < COUNTERS * slices; i += step)
            counts[i] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = item; i < held; i += LOADS * step) {
            ulong row_of[MOST_LOADS];
            FOR_EACH_COLUMN(DECLARE)
#pragma unroll
            for (uint load = 0; load < LOADS; load++) {
                row_of[load] = first_row + first + min(i + load * step, held - 1);
                FOR_EACH_COLUMN(LOAD)
            }
#pragma unroll
            for (uint load = 0; load < LOADS; load++) {
                uint place = NOWHERE;
                ROW_BODY
                if (i + load * step < held) {
                    FIND_PLACE
                    uint slice =
                        place == NOWHERE ? IN_NO_SLICE : (uint)(place * inverse >> INVERSE_BITS);
                    uint cell = place - slice * place_count, rank = 0;
                    if (place != NOWHERE)
                        rank = atomic_inc(counts + slice * COUNTERS + counter);
                    found[i + load * step] = (cell << SLICE_BITS | slice) << RANK_BITS | rank;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = item; i < COUNTERS * slices; i += step) {
            uint before = 0;
            for (uint j = 0; j < i; j++)
                before += counts[j];
            firsts[i] = before;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint total = firsts[COUNTERS * slices - 1] + counts[COUNTERS * slices - 1];
        for (uint i = item; i <= slices; i += step)
            starts[tile * (slices + 1) + i] = (ushort)(i < slices ? firsts[i * COUNTERS] : total);
        for (uint i = item; i < held; i += step) {
            uint slice = found[i] >> RANK_BITS & IN_NO_SLICE;
            uint rank = found[i] & ((1u << RANK_BITS) - 1);
            if (slice != IN_NO_SLICE)
                list[firsts[slice * COUNTERS + counter] + rank] =
                    ENTRY(i, found[i] >> (SLICE_BITS + RANK_BITS));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = item; i < total; i += step)
            lists[first + i] = list[i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    tell_doubts(doubts, flags);
}
