/* Postings: how the words of a question are looked up in the segments of an index. Shared by words.c, evidence.c and weighing.c. */

#ifndef COFIRE_POSTINGS_H
#define COFIRE_POSTINGS_H

#include "kernels.h"

/* The segments of the texts and of the descriptions. */
typedef struct {
    const segment *texts;
    int64_t text_segments;
    const segment *hints;
    int64_t hint_segments;
} shelf;

/* A question's words: the number of each in texts and in descriptions, its weight, and whether turns lend it. */
typedef struct {
    const int64_t *terms, *hints;
    const double *weights;
    const uint8_t *lent;
    int64_t many;
} wording;

/* The constants of BM25 and of lending, in the order in which Python gives them. */
typedef struct {
    double hint_weight, k1, b, mean_length, short_, usual, total;
} constants;

/* The facts of the index: how long each is, who is there, and who comes before and after whom; no turns if `before` is none. */
typedef struct {
    const int32_t *lengths;
    const uint8_t *alive;
    const int32_t *before, *after;
    int64_t size;
} columns;

/* What every segment tells of the words, looked up once: of a word first the runs of texts, then those of descriptions. */
typedef struct {
    run *runs;
    int64_t texts, hints;
} told;

INLINED const run *texts_of(const told *in, int64_t word) { return in->runs + word * (in->texts + in->hints); }

INLINED const run *hints_of(const told *in, int64_t word) { return texts_of(in, word) + in->texts; }

/* Without room there are no runs. */
INLINED told looked_up(const shelf *in, const wording *asked) {
    told found = {0, in->text_segments, in->hint_segments};
    found.runs = malloc((size_t)(asked->many * (found.texts + found.hints) + 1) * sizeof *found.runs);
    for (int64_t word = 0; found.runs && word < asked->many; word++) {
        run *to = (run *)texts_of(&found, word);
        for (int64_t part = 0; part < found.texts; part++) *to++ = run_of(in->texts + part, asked->terms[word]);
        for (int64_t part = 0; part < found.hints; part++) *to++ = run_of(in->hints + part, asked->hints[word]);
    }
    return found;
}

#endif
