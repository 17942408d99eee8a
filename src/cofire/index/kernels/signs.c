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

/* So many numbers of eight columns each are counted side by side, over all words before any distance is written. */
#define SIDE_BY_SIDE 4

FOR_WIDE_COUNTING static void differ_widely(const uint64_t *bits, int64_t stride, int64_t words, int64_t first,
                                            int64_t many, const uint64_t *asked, uint16_t *distances) {
    int64_t at = 0;
    for (; at + 8 * SIDE_BY_SIDE <= many; at += 8 * SIDE_BY_SIDE) {
        __m512i counts[SIDE_BY_SIDE];
        for (int side = 0; side < SIDE_BY_SIDE; side++) counts[side] = _mm512_setzero_si512();
        for (int64_t word = 0; word < words; word++) {
            const uint64_t *row = bits + word * stride + first + at;
            __m512i sign = _mm512_set1_epi64((long long)asked[word]);
            for (int side = 0; side < SIDE_BY_SIDE; side++) {
                __m512i here = _mm512_xor_si512(_mm512_loadu_si512(row + 8 * side), sign);
                counts[side] = _mm512_add_epi64(counts[side], _mm512_popcnt_epi64(here));
            }
        }
        for (int side = 0; side < SIDE_BY_SIDE; side++)
            _mm_storeu_si128((__m128i *)(distances + at + 8 * side), _mm512_cvtepi64_epi16(counts[side]));
    }
    differ(bits, stride, words, first + at, many - at, asked, distances + at);
}
#endif

/* So many columns at a time stay in the nearest cache. */
#define BLOCK 2048

/* To guess where the nearest end, each sixteenth is looked at, and twice as many as wanted are let in. */
#define SAMPLED 16
#define GENEROUS 2
/* So many distances are looked at side by side. */
#define STRETCH 32

/* The smallest distance within which there are enough; the farthest if there are not. */
static int64_t cut_of(const int64_t *within, int64_t farthest, int64_t wanted) {
    int64_t cut = 0, reached = within[0];
    while (reached < wanted && cut < farthest) reached += within[++cut];
    return cut;
}

/* A distance within which there seem to be more than enough, by a few of them. */
static int64_t guess(const uint16_t *distances, const uint8_t *among, int64_t size, int64_t wanted, int64_t farthest,
                     int64_t *within) {
    memset(within, 0, (size_t)(farthest + 1) * sizeof *within);
    for (int64_t at = 0; at < size; at += SAMPLED)
        if (among[at]) within[distances[at]]++;
    return cut_of(within, farthest, GENEROUS * wanted / SAMPLED + 1);
}

/* Which of a stretch are within a distance, a bit each. */
typedef uint32_t within_stretch(const uint16_t *, uint16_t);

INLINED uint32_t within_anywhere(const uint16_t *distances, uint16_t most) {
    uint32_t any = 0, found = 0;
    for (int at = 0; at < STRETCH; at++) any |= distances[at] <= most;
    for (int at = 0; any && at < STRETCH; at++) found |= (uint32_t)(distances[at] <= most) << at;
    return found;
}

/* The positions of those allowed within a distance, in order; how many, and in `within` how many at each distance. */
INLINED int64_t collect(const uint16_t *distances, const uint8_t *among, int64_t size, int64_t most, int64_t farthest,
                        int64_t *within, int64_t *found, within_stretch *look) {
    int64_t count = 0, first = 0;
    memset(within, 0, (size_t)(farthest + 1) * sizeof *within);
    for (; first + STRETCH <= size; first += STRETCH)
        for (uint32_t near = look(distances + first, (uint16_t)most); near; near &= near - 1) {
            int64_t at = first + __builtin_ctz(near);
            if (!among[at]) continue;
            within[distances[at]]++;
            found[count++] = at;
        }
    for (; first < size; first++) {
        if (distances[first] > most || !among[first]) continue;
        within[distances[first]]++;
        found[count++] = first;
    }
    return count;
}

typedef int64_t collecting(const uint16_t *, const uint8_t *, int64_t, int64_t, int64_t, int64_t *, int64_t *);

static int64_t collect_anywhere(const uint16_t *distances, const uint8_t *among, int64_t size, int64_t most, int64_t farthest,
                                int64_t *within, int64_t *found) {
    return collect(distances, among, size, most, farthest, within, found, within_anywhere);
}

#if HAS_VARIANTS
FOR_WIDE_COUNTING INLINED uint32_t within_widely(const uint16_t *distances, uint16_t most) {
    return _mm512_cmple_epu16_mask(_mm512_loadu_si512(distances), _mm512_set1_epi16((short)most));
}

FOR_WIDE_COUNTING static int64_t collect_widely(const uint16_t *distances, const uint8_t *among, int64_t size, int64_t most,
                                                int64_t farthest, int64_t *within, int64_t *found) {
    return collect(distances, among, size, most, farthest, within, found, within_widely);
}
#endif

/* The functions for the processor at hand. */
typedef struct {
    differing *differ;
    collecting *collect;
} looks;

static looks looks_here(void) {
    looks here = {differ_anywhere, collect_anywhere};
#if HAS_VARIANTS
    if (__builtin_cpu_supports("popcnt")) here.differ = differ_counting;
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw")) {
        here.differ = differ_widely;
        here.collect = collect_widely;
    }
#endif
    return here;
}

/* The positions of the `wanted` nearest of those allowed, and of all that are as near as the last one, in order; how many.
   `distances` has room for all, `found` too. */
EXPORTED int64_t nearest_by_signs(const uint64_t *bits, int64_t stride, int64_t words, int64_t size, const uint8_t *among,
                                  const uint64_t *asked, int64_t wanted, uint16_t *distances, int64_t *found) {
    looks here = looks_here();
    int64_t farthest = 64 * words, kept = 0;
    int64_t *within = malloc((size_t)(farthest + 1) * sizeof *within);
    if (!within) return NO_ROOM;
    for (int64_t first = 0; first < size; first += BLOCK) {
        int64_t many = size - first < BLOCK ? size - first : BLOCK;
        here.differ(bits, stride, words, first, many, asked, distances + first);
    }
    int64_t most = guess(distances, among, size, wanted, farthest, within);
    int64_t count = here.collect(distances, among, size, most, farthest, within, found);
    if (count < wanted) count = here.collect(distances, among, size, farthest, farthest, within, found);
    int64_t cut = cut_of(within, farthest, wanted);
    for (int64_t at = 0; at < count; at++)
        if (distances[found[at]] <= cut) found[kept++] = found[at];
    free(within);
    return kept;
}
