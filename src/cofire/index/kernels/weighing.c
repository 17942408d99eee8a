/* Weighing: what facts are worth by their meaning, their words and their shape, all at once. The twin of _weigh in verbs/direct.py. */

#include "weighing.h"

/* Facts and the turns around them as a store tells of them: evidence in stores/base.py. `around` has `told` turns a side. */
typedef struct {
    vector_table vectors;
    const int64_t *at;
    const uint8_t *embedded;
    int64_t near;
    const float *counts, *hints, *lengths;
    int64_t rows;
    const int32_t *around;
    int64_t told;
    const uint8_t *asks, *timed;
    int64_t facts;
} evidence;

/* What the question is: the axes of `gauge_of`, none without a vector; what turns lend to the meaning of a fact, and to its words. */
typedef struct {
    const float *axes;
    const double *means;
    int64_t means_reach;
    double means_short;
    const double *lends;
    int64_t lends_reach;
    const wording *asked;
    const constants *by;
} measures;

/* What a fact counts before its content does: by its words up to so many, and as far as it is short, that it asks or speaks of a time. */
typedef struct {
    const double *saying;
    int64_t most;
    double asks, timed, short_;
} shape;

/* Of the turns around facts the nearest on either side, in one piece. */
static void nearest_turns(const evidence *of, int64_t reach, int32_t *turns) {
    for (int64_t fact = 0; fact < of->facts; fact++)
        for (int64_t side = 0; side < 2; side++) {
            const int32_t *from = of->around + (2 * fact + side) * of->told;
            for (int64_t turn = 0; turn < reach; turn++) *turns++ = from[turn];
        }
}

/* What the nearest turns on either side count, of the weights of `all` a side. */
static void nearest_weights(const double *weights, int64_t all, int64_t reach, double *into) {
    memcpy(into, weights, (size_t)reach * sizeof *into);
    memcpy(into + reach, weights + all, (size_t)reach * sizeof *into);
}

static int64_t alike(const evidence *of, const measures *to, double *weights, double *cosines, double *plain) {
    int64_t reach = to->means_reach < of->told ? to->means_reach : of->told;
    int32_t *turns = malloc((size_t)(2 * of->facts * reach + 1) * sizeof *turns);
    if (!turns) return NO_ROOM;
    nearest_turns(of, reach, turns);
    nearest_weights(to->means, to->means_reach, reach, weights);
    surroundings around = {turns, weights, 2 * reach, of->lengths, to->means_short};
    int64_t found = cosines_in_context(&of->vectors, of->at, of->embedded, of->near, of->facts, to->axes, &around, cosines, plain);
    free(turns);
    return found;
}

static int64_t worded(const evidence *of, const measures *to, double *weights, double *shares) {
    int64_t reach = to->lends_reach < of->told ? to->lends_reach : of->told;
    held_words held = {of->counts, of->hints, of->lengths, of->around, of->told};
    nearest_weights(to->lends, to->lends_reach, reach, weights);
    return shares_of_words(&held, weights, reach, to->asked, to->by, of->facts, shares);
}

INLINED double prior_of(const evidence *of, int64_t fact, const shape *by) {
    double length = of->lengths[fact];
    int64_t words = length < (double)by->most ? (int64_t)length : by->most;
    double told = by->asks * of->asks[fact] + by->timed * of->timed[fact];
    return by->saying[words] + told * openness(length, by->short_);
}

/* The rows of a table with a column a fact that are filled in here, as slates.py numbers them. */
enum { KEYWORD = 1, PRIOR = 4, COSINE = 6, RAW = 7, LENGTH = 8, MEANT = 9 };

/* Fill in what facts hold of the words, what is known before, how alike they are with what the turns around mean and as the model says,
   their lengths, and who has a vector to compare; without axes nobody has, and nothing is alike. */
EXPORTED int64_t weigh_facts(const evidence *of, const measures *to, const shape *by, double *table) {
    int64_t facts = of->facts;
    if (!are_rows(of->around, 2 * facts * of->told, of->rows)) return OUTSIDE;
    double *weights = malloc((size_t)(2 * of->told + 1) * sizeof *weights);
    if (!weights) return NO_ROOM;
    int64_t found = worded(of, to, weights, table + KEYWORD * facts);
    if (found >= 0 && to->axes) found = alike(of, to, weights, table + COSINE * facts, table + RAW * facts);
    free(weights);
    for (int64_t fact = 0; found >= 0 && fact < facts; fact++) {
        table[PRIOR * facts + fact] = prior_of(of, fact, by);
        table[LENGTH * facts + fact] = of->lengths[fact];
        table[MEANT * facts + fact] = to->axes && of->embedded[fact];
    }
    return found;
}
