/* Neighbours: the highest of many numbers for each of many rows, block after block. The twin of dynamics/neighbours.py. */

#include "kernels.h"

/* So many numbers are passed over at once if none of them is high enough. */
#define STRETCH 16

INLINED int any_above(const float *numbers, float least) {
    int found = 0;
    for (int at = 0; at < STRETCH; at++) found |= numbers[at] > least;
    return found;
}

/* Puts a number in its place among the highest, the lowest of which it is above; behind those that are as high. */
INLINED void let_in(float number, int64_t name, float *best, int64_t *who, int64_t most) {
    int64_t at = most - 1;
    for (; at > 0 && best[at - 1] < number; at--) {
        best[at] = best[at - 1];
        who[at] = who[at - 1];
    }
    best[at] = number;
    who[at] = name;
}

/* One row of a block; the one of its own name is left out. */
static void keep_row(const float *numbers, int64_t columns, const int64_t *names, int64_t own, int64_t most, float *best,
                     int64_t *who) {
    for (int64_t first = 0; first < columns; first += STRETCH) {
        int64_t end = first + STRETCH < columns ? first + STRETCH : columns;
        if (end - first == STRETCH && !any_above(numbers + first, best[most - 1])) continue;
        for (int64_t at = first; at < end; at++)
            if (numbers[at] > best[most - 1] && names[at] != own) let_in(numbers[at], names[at], best, who, most);
    }
}

/* Lets the numbers of a block among the highest of each row: row i of it counts for row whose[i] of the `held` ones, of which each has
   its `most` highest numbers and their names, the highest first. How many rows were looked at. */
EXPORTED int64_t keep_highest(const float *block, int64_t rows, int64_t columns, const int64_t *names, const int64_t *whose,
                           const int64_t *own, int64_t held, int64_t most, float *best, int64_t *who) {
    for (int64_t row = 0; row < rows; row++)
        if (whose[row] < 0 || whose[row] >= held) return OUTSIDE;
    for (int64_t row = 0; row < rows && most > 0; row++)
        keep_row(block + row * columns, columns, names, own[row], most, best + whose[row] * most,
                 who + whose[row] * most);
    return rows;
}
