/* Picking: rows by falling score, and a pick that rewards words nobody held before. The twin of dynamics/fusion.py and of picked in
   dynamics/covering.py. */

#include "kernels.h"

/* Scores are told apart to the sixth decimal (fusion.DECIMALS). */
#define FINEST 1e6
/* Added to a number below the second, it leaves no room for what is behind the point, and so rounds as `rint` does, which not every
   processor can do in one step. */
#define NO_ROOM_BEHIND 6755399441055744.0
#define ROUNDED_SO 2251799813685248.0

/* A row and its score. */
typedef struct {
    double score;
    int64_t row;
} ranked;

/* A score in the finest steps that are told apart. */
INLINED double in_steps(double score) {
    double steps = score * FINEST;
    return fabs(steps) < ROUNDED_SO ? (steps + NO_ROOM_BEHIND) - NO_ROOM_BEHIND : rint(steps);
}

INLINED double rounded(double score) { return in_steps(score) / FINEST; }

/* Whether one comes before the other: by falling score, of equals the earlier row. */
INLINED int comes_first(ranked one, ranked other) {
    return one.score > other.score || (one.score == other.score && one.row < other.row);
}

/* So few are put in order one by one; longer runs are made of two that are. */
#define FEW 16

static void put_few_in_order(ranked *rows, int64_t many) {
    for (int64_t at = 1; at < many; at++) {
        ranked one = rows[at];
        int64_t to = at;
        for (; to > 0 && comes_first(one, rows[to - 1]); to--) rows[to] = rows[to - 1];
        rows[to] = one;
    }
}

/* Two runs that are in order as one, of which the first ends at `middle`. */
static void merge(const ranked *rows, int64_t middle, int64_t many, ranked *into) {
    int64_t first = 0, second = middle;
    for (int64_t at = 0; at < many; at++) {
        int is_first = first < middle && (second >= many || comes_first(rows[first], rows[second]));
        into[at] = is_first ? rows[first++] : rows[second++];
    }
}

/* `room` is as large as `rows`; in which of the two they are in order then. */
static ranked *put_in_order(ranked *rows, int64_t many, ranked *room) {
    for (int64_t run = 0; run < many; run += FEW) put_few_in_order(rows + run, many - run < FEW ? many - run : FEW);
    for (int64_t width = FEW; width < many; width *= 2) {
        for (int64_t run = 0; run < many; run += 2 * width) {
            int64_t here = many - run < 2 * width ? many - run : 2 * width;
            merge(rows + run, here < width ? here : width, here, room + run);
        }
        ranked *ordered = room;
        room = rows;
        rows = ordered;
    }
    return rows;
}

/* The rows of the `count` highest scores in order, with all that equal the last of them, and in `steps` their scores as they are
   compared; those at minus infinity are none, and those that are no numbers. How many, and through `equals` how many equal the one before. */
EXPORTED int64_t best_rows(const double *scores, int64_t many, int64_t count, int64_t *rows, double *steps, int64_t *equals) {
    /* Room for all twice, and for their scores. */
    ranked *room = malloc((size_t)(2 * many + 1) * sizeof *room);
    double *found = malloc((size_t)(many + 1) * sizeof *found), least = -INFINITY;
    if (!room || !found) {
        free(room);
        free(found);
        return NO_ROOM;
    }
    int64_t kept = 0;
    for (int64_t row = 0; row < many; row++) found[row] = steps[row] = isnan(scores[row]) ? -INFINITY : in_steps(scores[row]);
    if (0 < count && count < many) least = selected(found, many, many - count);
    for (int64_t row = 0; row < many; row++) {
        ranked one = {steps[row], row};
        if (one.score >= least && one.score > -INFINITY) room[kept++] = one;
    }
    const ranked *ordered = put_in_order(room, kept, room + many);
    *equals = 0;
    for (int64_t at = 0; at < kept; at++) {
        rows[at] = ordered[at].row;
        steps[at] = ordered[at].score;
        *equals += at && ordered[at].score == ordered[at - 1].score;
    }
    free(room);
    free(found);
    return kept;
}

/* What covering the question counts: facts with their scores, the words that each holds, and their turns among equals, the later first. */
typedef struct {
    const double *scores;
    const uint8_t *holds;
    const int64_t *turns;
    int64_t facts, words;
    const double *weights;
    double reward;
} covering;

/* What is known of a fact while others are picked: its words as bits, what it would gain, and where it stands. */
typedef struct {
    uint64_t words;
    double gain, stands;
    int is_picked;
} candidate;

INLINED double worth(const covering *of, uint64_t words) {
    double sum = 0;
    for (int64_t word = 0; word < of->words; word++)
        if (words >> word & 1) sum += of->weights[word];
    return of->reward * sum;
}

/* The one that stands highest of those that are left. */
static int64_t highest(const covering *of, const candidate *all) {
    int64_t best = -1;
    for (int64_t fact = 0; fact < of->facts; fact++) {
        if (all[fact].is_picked) continue;
        if (best < 0 || all[fact].stands > all[best].stands ||
            (all[fact].stands == all[best].stands && of->turns[fact] > of->turns[best]))
            best = fact;
    }
    return best;
}

/* What covering adds to each score; of at most 64 words. */
EXPORTED int64_t pick_by_covering(const covering *of, int64_t count, double *bonus) {
    candidate *all = calloc((size_t)of->facts + 1, sizeof *all);
    if (!all) return NO_ROOM;
    uint64_t covered = 0;
    double last = INFINITY;
    for (int64_t fact = 0; fact < of->facts; fact++) {
        all[fact].stands = rounded(of->scores[fact]);
        for (int64_t word = 0; word < of->words; word++)
            all[fact].words |= (uint64_t)(of->holds[fact * of->words + word] != 0) << word;
    }
    for (int64_t turn = 0; turn < count && turn < of->facts; turn++) {
        candidate *best = all + highest(of, all);
        uint64_t new = best->words & ~covered;
        best->is_picked = 1;
        covered |= best->words;
        if (best->stands < last) last = best->stands;
        for (int64_t fact = 0; fact < of->facts; fact++) {
            if (all[fact].is_picked || (turn && !(new & all[fact].words))) continue;
            all[fact].gain = worth(of, all[fact].words & ~covered);
            all[fact].stands = rounded(of->scores[fact] + all[fact].gain);
        }
    }
    double behind = last - 1 / FINEST;
    for (int64_t fact = 0; fact < of->facts; fact++) {
        double less = behind - of->scores[fact];
        bonus[fact] = all[fact].is_picked ? all[fact].gain : less < 0 ? less : 0;
    }
    free(all);
    return of->facts;
}
