/* The walk over names: the best link to each fact, and what linked facts are worth. The twin of best_links in verbs/ways.py, of judged
   and how_far_counted in verbs/walk.py, of best_steps in dynamics/walking.py and of best_sentence in dynamics/covering.py. */

#include "kernels.h"

/* Names that seeds hold, a row each, and links, a row each, as NamePaths has them. `turn` is the order in which names of equal worth
   tell the way, `weight` what each counts. */
typedef struct {
    const int64_t *holder, *count, *sentences, *turn;
    const double *own, *weight;
    int64_t steps;
    const int64_t *step, *target, *there;
    const double *strength;
    int64_t links;
} paths;

/* All facts on the paths: how near each is to the question, what it counts as a seed, and whether it is in no session. */
typedef struct {
    const double *near, *seed;
    const uint8_t *loose;
    int64_t many;
} facts;

/* The best link to each fact of one kind: its worth, 0 where none leads, and its row. */
typedef struct {
    double *worth;
    int64_t *link;
} best;

/* Whether a link goes to a fact about the name, or comes from one: else it is one between facts that merely share it. */
INLINED int is_about(const paths *on, int64_t link) { return on->strength[link] > 0 || on->own[on->step[link]] > 0; }

/* Whether a link is of the kind at hand. Turns of a session are linked by their neighbours; that they mention the same name says
   nothing. */
INLINED int counts(const paths *on, const facts *of, int64_t link, int about) {
    if (is_about(on, link)) return about;
    return !about && of->loose[on->holder[on->step[link]]] && of->loose[on->target[link]];
}

INLINED double draw(const paths *on, const facts *of, int64_t link) {
    return of->near[on->target[link]] * (on->strength[link] > 0 ? on->strength[link] : 1);
}

/* p(seed) · p(name | seed) · p(fact | name), each shared among its rivals; the best of all links to a fact stays. */
static void find_best(const paths *on, const facts *of, int about, double *drawn, double *rivals, best *found) {
    for (int64_t step = 0; step < on->steps; step++) drawn[step] = 0;
    for (int64_t fact = 0; fact < of->many; fact++) {
        rivals[fact] = found->worth[fact] = 0;
        found->link[fact] = -1;
    }
    for (int64_t link = 0; link < on->links; link++)
        if (counts(on, of, link, about)) drawn[on->step[link]] += draw(on, of, link);
    for (int64_t step = 0; step < on->steps; step++)
        if (drawn[step] > 0) rivals[on->holder[step]] += on->weight[step];
    for (int64_t link = 0; link < on->links; link++) {
        if (!counts(on, of, link, about)) continue;
        int64_t step = on->step[link], seed = on->holder[step], target = on->target[link], before = found->link[target];
        double rival = rivals[seed] > 1e-12 ? rivals[seed] : 1e-12;
        double worth = of->seed[seed] * on->weight[step] / rival * draw(on, of, link) / (drawn[step] + 1e-12);
        int is_first = before < 0 || worth > found->worth[target] ||
                       (worth == found->worth[target] && on->turn[step] < on->turn[on->step[before]]);
        if (!is_first) continue;
        found->worth[target] = worth;
        found->link[target] = link;
    }
}

/* Mark the strongest facts above 0, of equals the first; `room` holds as many numbers. */
static void mark_strongest(const double *values, int64_t many, int64_t most, double *room, uint8_t *marks) {
    double least = 0;
    int64_t above = 0;
    if (many > most) {
        memcpy(room, values, (size_t)many * sizeof *room);
        least = most > 0 ? selected(room, many, many - most) : INFINITY;
    }
    for (int64_t at = 0; at < many; at++) above += values[at] > least;
    int64_t left = most - above;
    for (int64_t at = 0; at < many; at++) {
        if (values[at] <= 0 || values[at] < least) continue;
        if (values[at] > least || left-- > 0) marks[at] = 1;
    }
}

/* The best link to each fact, over facts about a name and over shared names, and of those the strongest of either kind: the rows of
   the facts, the rows of the links, and both worths; how many. */
EXPORTED int64_t best_links(const paths *on, const facts *of, int64_t expanded, int64_t *at, int64_t *link, double *about,
                            double *shared) {
    int64_t many = of->many, found = 0;
    double *numbers = malloc((size_t)(on->steps + 3 * many + 1) * sizeof *numbers);
    int64_t *links = malloc((size_t)(2 * many + 1) * sizeof *links);
    uint8_t *marks = calloc((size_t)many + 1, 1);
    if (!numbers || !links || !marks) found = NO_ROOM;
    else {
        double *drawn = numbers, *rivals = numbers + on->steps;
        best over = {rivals + many, links}, sharing = {rivals + 2 * many, links + many};
        find_best(on, of, 1, drawn, rivals, &over);
        find_best(on, of, 0, drawn, rivals, &sharing);
        mark_strongest(over.worth, many, expanded, rivals, marks);
        mark_strongest(sharing.worth, many, expanded, rivals, marks);
        for (int64_t fact = 0; fact < many; fact++) {
            if (!marks[fact]) continue;
            at[found] = fact;
            link[found] = over.worth[fact] >= sharing.worth[fact] ? over.link[fact] : sharing.link[fact];
            about[found] = over.worth[fact];
            shared[found++] = sharing.worth[fact];
        }
    }
    free(numbers);
    free(links);
    free(marks);
    return found;
}

/* Facts that were weighed, a row each: which words of the question each holds, what it is worth by itself and by its words, how long
   it is, and which row of the sentences is its own. */
typedef struct {
    const uint8_t *holds;
    const double *direct, *keyword, *lengths;
    const int64_t *placed;
    int64_t many;
} slate;

/* The question: what each word counts of it, and in which sentences of facts, a bit each, its words stand. */
typedef struct {
    const double *shares;
    int64_t words;
    const int64_t *places;
} question;

#define FEATURES 7

/* Constants in the order in which Python gives them: see ranking.toml. */
typedef struct {
    double sure, room, short_, most, least;
    double weights[FEATURES];
} rules;

/* Linked facts: rows of the slate, of each and of its source, the row of its link, and how much either kind carries. */
typedef struct {
    const int64_t *target, *source, *link;
    const double *about, *shared;
    int64_t many;
} linked;

/* The share of the question that the best of some sentences holds, without words that `but` holds. */
static double best_sentence(const question *asked, const int64_t *places, int64_t sentences, const uint8_t *but) {
    double most = 0;
    for (uint64_t left = (uint64_t)sentences; left; left &= left - 1) {
        uint64_t bit = left & -left;
        double share = 0;
        for (int64_t word = 0; word < asked->words; word++)
            if (!(but && but[word]) && ((uint64_t)places[word] & bit)) share += asked->shares[word];
        if (share > most) most = share;
    }
    return most;
}

/* A link to what is about a name counts in full; one between facts that merely mention it, as far as they are short. */
static double how_far(const linked *of, int64_t at, const slate *known, const rules *by) {
    if (of->about[at] > 0) return 1;
    return openness(known->lengths[of->source[at]], by->short_) * openness(known->lengths[of->target[at]], by->short_);
}

INLINED double above_nothing(double number) { return number > 0 ? number : 0; }

/* The share of what a link would give that it gives: no more than a share of what the better of its two facts is worth, and no less
   than a share of what the one it leads to is. */
static double bounded(double given, double source, double own, const rules *by) {
    double most = by->most * above_nothing(source > own ? source : own), least = by->least * above_nothing(own);
    return given > most ? most / given : given < least ? least / given : 1;
}

/* What features give, a row a feature and a column a fact of the slate, 0 for those that are not linked: about, shared, rare, fits,
   adds_there, adds, repeats. `gives` is zero before. */
EXPORTED int64_t judge_links(const paths *on, const linked *of, const slate *known, const question *asked, const rules *by,
                             double *gives) {
    for (int64_t at = 0; at < of->many; at++) {
        int64_t target = of->target[at], source = of->source[at], link = of->link[at], step = on->step[link];
        const uint8_t *mine = known->holds + target * asked->words, *theirs = known->holds + source * asked->words;
        const int64_t *there = asked->places + known->placed[target] * asked->words;
        const int64_t *here = asked->places + known->placed[source] * asked->words;
        double adds = 0, said = 0, held = on->count[step] > 1 ? (double)on->count[step] : 1;
        for (int64_t word = 0; word < asked->words; word++) {
            if (theirs[word]) said += asked->shares[word];
            else if (mine[word]) adds += asked->shares[word];
        }
        double open = (1 - said) / by->room, direct = known->direct[source];
        double found[FEATURES] = {
            sqrt(of->about[at]),
            sqrt(of->shared[at]),
            (by->sure - log(held)) * above_nothing(direct),
            best_sentence(asked, here, on->sentences[step], 0),
            best_sentence(asked, there, on->there[link], theirs),
            adds,
            known->keyword[target] * (open < 0 ? 0 : open > 1 ? 1 : open),
        };
        double far = how_far(of, at, known, by), given = 0;
        for (int64_t feature = 0; feature < FEATURES; feature++) given += found[feature] *= far * by->weights[feature];
        double share = bounded(given, direct, known->direct[target], by);
        for (int64_t feature = 0; feature < FEATURES; feature++)
            gives[feature * known->many + target] = share * found[feature];
    }
    return of->many;
}
