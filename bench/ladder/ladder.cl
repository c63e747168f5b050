/*
 * What the rungs of the ladder share; each rung's file follows this one and defines the kernel
 *
 *     rung(x, count, result): one value for each group, from count values (1 and up)
 *
 * which runs again on its own results until one is left. Values past the end count as IDENTITY, so
 * count need not be a multiple of anything. All rungs but the cascading ones launch enough
 * work-items for all values.
 *
 * Defined by the host: GROUP (work-items in a group, a power of two), COMBINING (0: sum, 1:
 * greatest, 2: least), WARP_SYNC (1: NVIDIA, whose warps can be synchronised on their own).
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#ifndef ELEMENT
#define ELEMENT double
#define ELEMENT4 double4
#endif

#if COMBINING == 0
#define COMBINE(a, b) ((a) + (b))
#define IDENTITY ((ELEMENT)0)
#elif COMBINING == 1
#define COMBINE(a, b) max((a), (b))
#define IDENTITY ((ELEMENT)-INFINITY)
#else
#define COMBINE(a, b) min((a), (b))
#define IDENTITY ((ELEMENT)INFINITY)
#endif

#define LOAD(i) ((i) < count ? x[i] : IDENTITY)

/* One step of a tree in local memory, for all work-items of the group. */
#define GROUP_STEP(distance)                                                                       \
    if (item < (distance))                                                                         \
        scratch[item] = COMBINE(scratch[item], scratch[item + (distance)]);                        \
    barrier(CLK_LOCAL_MEM_FENCE);

/*
 * The same for the last 32 work-items. Those of one warp no longer run in lockstep since NVIDIA's
 * Volta, so they need an instruction that brings them together; elsewhere the group's barrier.
 */
#define WARP 32
#if WARP_SYNC
#define WARP_ONLY if (item < WARP)
#define WARP_STEP(distance)                                                                        \
    if (item < (distance))                                                                         \
        scratch[item] = COMBINE(scratch[item], scratch[item + (distance)]);                        \
    __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory");
#else
#define WARP_ONLY
#define WARP_STEP(distance) GROUP_STEP(distance)
#endif

/* The tree over the whole group, written out for its size. */
#if GROUP >= 1024
#define TREE_1024 GROUP_STEP(512)
#else
#define TREE_1024
#endif
#if GROUP >= 512
#define TREE_512 GROUP_STEP(256)
#else
#define TREE_512
#endif
#if GROUP >= 256
#define TREE_256 GROUP_STEP(128)
#else
#define TREE_256
#endif
#if GROUP >= 128
#define TREE_128 GROUP_STEP(64)
#else
#define TREE_128
#endif
#if GROUP >= 64
#define TREE_64 GROUP_STEP(32)
#else
#define TREE_64
#endif
#if GROUP >= 32
#define TREE_32 WARP_STEP(16)
#else
#define TREE_32
#endif
#if GROUP >= 16
#define TREE_16 WARP_STEP(8)
#else
#define TREE_16
#endif
#if GROUP >= 8
#define TREE_8 WARP_STEP(4)
#else
#define TREE_8
#endif
#if GROUP >= 4
#define TREE_4 WARP_STEP(2)
#else
#define TREE_4
#endif
#if GROUP >= 2
#define TREE_2 WARP_STEP(1)
#else
#define TREE_2
#endif
#define LAST_WARP                                                                                  \
    WARP_ONLY                                                                                      \
    {                                                                                              \
        TREE_32 TREE_16 TREE_8 TREE_4 TREE_2                                                       \
    }
#define WHOLE_TREE TREE_1024 TREE_512 TREE_256 TREE_128 TREE_64 LAST_WARP
