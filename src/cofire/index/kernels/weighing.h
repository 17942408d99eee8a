/* What weighing facts takes from vectors.c and words.c. */

#ifndef COFIRE_WEIGHING_H
#define COFIRE_WEIGHING_H

#include "postings.h"

/* A table of vectors at single or half precision, and of every row what was measured before, if it was: see `rows_of` in vectors.c. */
typedef struct {
    const void *table;
    int64_t size, is_half, dimension;
    const float *known;
} vector_table;

/* The turns around facts: so many each, what each counts, and how long facts are that borrow from them. */
typedef struct {
    const int32_t *turns;
    const double *weights;
    int64_t many;
    const float *lengths;
    double short_;
} surroundings;

/* What rows hold of the words of a question, and the turns around each fact as rows, `told` a side. */
typedef struct {
    const float *counts, *hints, *lengths;
    const int32_t *around;
    int64_t told;
} held_words;

/* Whether all turns are among the rows; below 0 is none. */
INLINED int are_rows(const int32_t *turns, int64_t many, int64_t rows) {
    int outside = 0;
    for (int64_t turn = 0; turn < many; turn++) outside |= turns[turn] >= rows;
    return !outside;
}

int64_t cosines_in_context(const vector_table *in, const int64_t *at, const uint8_t *embedded, int64_t rows, int64_t facts,
                           const float *axes, const surroundings *around, double *cosines, double *plain);

int64_t shares_of_words(const held_words *held, const double *lends, int64_t reach, const wording *asked, const constants *by,
                        int64_t facts, double *shares);

#endif
