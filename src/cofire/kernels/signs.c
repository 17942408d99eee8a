/* Signs: which vectors are near by the signs of their numbers. The twin of stores/index/signs.py. */

#include "kernels.h"

EXPORTED int64_t edition(void) { return EDITION; }

/* In how many signs each column differs from the asked ones. `bits` has a row of `stride` a word of 64 signs. */
INLINED void differ(const uint64_t *bits, int64_t stride, int64_t words, int64_t first, int64_t many,
                    const uint64_t *asked, uint16_t *distances) {
    for (int64_t at = 0; at < many; at++) distances[at] = 0;
    for (int64_t word = 0; word < words; word++) {
        const uint64_t *row = bits + word * stride + first;
        uint64_t sign = asked[word];
        for (int64_t at = 0; at < many; at++) distances[at] += (uint16_t)__builtin_popcountll(row[at] ^ sign);
    }
}

typedef void differing(const uint64_t *, int64_t, int64_t, int64_t, int64_t, const uint64_t *, uint16_t *);

static void differ_anywhere(const uint64_t *bits, int64_t stride, int64_t words, int64_t first, int64_t many,
                            const uint64_t *asked, uint16_t *distances) {
    differ(bits, stride, words, first, many, asked, distances);
}

#if HAS_VARIANTS
FOR_COUNTING static void differ_counting(const uint64_t *bits, int64_t stride, int64_t words, int64_t first,
                                         int64_t many, const uint64_t *asked, uint16_t *distances) {
    differ(bits, stride, words, first, many, asked, distances);
}

FOR_WIDE_COUNTING static void differ_widely(const uint64_t *bits, int64_t stride, int64_t words, int64_t first,
                                            int64_t many, const uint64_t *asked, uint16_t *distances) {
    differ(bits, stride, words, first, many, asked, distances);
}
#endif

static differing *differing_here(void) {
#if HAS_VARIANTS
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
        return differ_widely;
    if (__builtin_cpu_supports("popcnt")) return differ_counting;
#endif
    return differ_anywhere;
}

/* So many columns at a time stay in the nearest cache. */
#define BLOCK 2048

/* The positions of the `wanted` nearest of those allowed, and of all that are as near as the last one, in order; how many.
   `distances` has room for all, `found` too. */
EXPORTED int64_t nearest_by_signs(const uint64_t *bits, int64_t stride, int64_t words, int64_t size, const uint8_t *among,
                                  const uint64_t *asked, int64_t wanted, uint16_t *distances, int64_t *found) {
    differing *look = differing_here();
    int64_t farthest = 64 * words;
    int64_t *within = calloc((size_t)farthest + 1, sizeof *within);
    if (!within) return NO_ROOM;
    for (int64_t first = 0; first < size; first += BLOCK) {
        int64_t many = size - first < BLOCK ? size - first : BLOCK;
        look(bits, stride, words, first, many, asked, distances + first);
        for (int64_t at = first; at < first + many; at++)
            if (among[at]) within[distances[at]]++;
    }
    int64_t cut = 0, reached = within[0];
    while (reached < wanted && cut < farthest) reached += within[++cut];
    free(within);
    int64_t count = 0;
    for (int64_t at = 0; at < size; at++)
        if (distances[at] <= cut && among[at]) found[count++] = at;
    return count;
}
