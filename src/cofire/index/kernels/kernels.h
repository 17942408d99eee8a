/* What all kernels share: how arrays of the index reach C, and which instructions a function may use. Nothing here allocates. */

#ifndef COFIRE_KERNELS_H
#define COFIRE_KERNELS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Changed whenever a function takes or gives something else: the Python side leaves a library of another edition alone. */
#define EDITION 14

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

/* The same body compiled for newer processors beside the one that runs everywhere; which is used is found out at run time. */
#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>
#define HAS_VARIANTS 1
#define FOR_COUNTING __attribute__((target("popcnt")))
#define FOR_WIDE_COUNTING __attribute__((target("popcnt,avx512f,avx512bw,avx512vl,avx512vpopcntdq")))
#define FOR_PRODUCTS __attribute__((target("avx2,fma,f16c")))
#else
#define HAS_VARIANTS 0
#endif
#define INLINED static inline __attribute__((always_inline))

/* Out of memory. Everything that counts something gives this instead. */
#define NO_ROOM (-1)
/* Asked for something that is not there. */
#define OUTSIDE (-3)

/* Postings sorted by term: those of terms[i] stand from starts[i] to starts[i + 1]. Positions grow within a term. */
typedef struct {
    const int64_t *terms;
    int64_t size;
    const int64_t *starts;
    const int32_t *positions;
    const uint16_t *counts;
} segment;

/* The postings of one term in one segment. */
typedef struct {
    const int32_t *positions;
    const uint16_t *counts;
    int64_t size;
} run;

/* How many of some numbers in order are below one. */
INLINED int64_t below(const int64_t *numbers, int64_t size, int64_t wanted) {
    int64_t low = 0, high = size;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (numbers[middle] < wanted) low = middle + 1;
        else high = middle;
    }
    return low;
}

INLINED run run_of(const segment *in, int64_t term) {
    int64_t low = below(in->terms, in->size, term);
    run found = {0, 0, 0};
    if (low < in->size && in->terms[low] == term) {
        int64_t first = in->starts[low];
        found.positions = in->positions + first;
        found.counts = in->counts + first;
        found.size = in->starts[low + 1] - first;
    }
    return found;
}

/* Where in a run a position stands, or would. In which half is computed and not branched on, since a processor guesses wrong half of
   the time; over the many more numbers of `below`, what it fetches while it guesses is worth more than that. */
INLINED int64_t place_in(run in, int32_t position) {
    const int32_t *first = in.positions;
    int64_t size = in.size;
    for (; size > 1; size -= size / 2) first += (first[size / 2 - 1] < position) * (size / 2);
    return first - in.positions + (size == 1 && *first < position);
}

INLINED int holds(run in, int32_t position) {
    int64_t at = place_in(in, position);
    return at < in.size && in.positions[at] == position;
}

/* How often a position stands in a run: its count, 0 if it is not there. */
INLINED uint16_t count_at(run in, int32_t position) {
    int64_t at = place_in(in, position);
    return at < in.size && in.positions[at] == position ? in.counts[at] : 0;
}

/* How much a fact of this many words borrows: min(1, short / length) (context.openness). To divide takes longer than all else that is
   done for a fact, so that it is left out where it changes nothing. */
INLINED double openness(double length, double short_) {
    double words = length > 1 ? length : 1;
    return words > short_ ? short_ / words : 1;
}

/* The value that stands at a place if values are put in order, the smallest first. Moves the values (Hoare's selection). */
INLINED double selected(double *values, int64_t size, int64_t place) {
    int64_t low = 0, high = size - 1;
    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        int64_t left = low, right = high;
        while (left <= right) {
            while (values[left] < pivot) left++;
            while (values[right] > pivot) right--;
            if (left <= right) {
                double moved = values[left];
                values[left++] = values[right];
                values[right--] = moved;
            }
        }
        if (place <= right) high = right;
        else if (place >= left) low = left;
        else break;
    }
    return values[place];
}

#endif
