/* Spreading: how activation goes along wires, a round, a hop or a depth at a time. The twin of dynamics/synapse.py, diffusion.py and
   energy.py, whose docstrings tell what is computed and where it is from, and of the way back in verbs/spreading.py. */

#include "spreading.h"

/* As in dynamics/runs.py: sums of the same numbers in another order are equals. */
#define ROUNDING 1e12

/* Ids by row, null where nobody has asked for them yet. */
typedef struct {
    const words *told;
    const char **starts;
} spelling;

static int64_t spell(spelling *ids, const words *told, int64_t rows) {
    *ids = (spelling){told, 0};
    if (!told || told->width) return 0;
    const char *text = told->text;
    ids->starts = malloc((size_t)(rows + 1) * sizeof *ids->starts);
    if (!ids->starts) return NO_ROOM;
    for (int64_t row = 0; row < rows; row++, text += strlen(text) + 1) ids->starts[row] = text;
    return 0;
}

/* Which of two rows has the smaller id; below 0 if it is `one`. */
INLINED int compare(const spelling *ids, int64_t one, int64_t other) {
    const words *in = ids->told;
    if (!in->width) return strcmp(ids->starts[one], ids->starts[other]);
    return memcmp(in->text + in->places[one] * in->width, in->text + in->places[other] * in->width, (size_t)in->width);
}

/* Of those at the cut the smaller ids stay, as many as there is room for. */
static void keep_equals(const double *rounded, int64_t rows, double cut, int64_t room, const spelling *ids, uint8_t *kept) {
    for (; room > 0; room--) {
        int64_t least = -1;
        for (int64_t row = 0; row < rows; row++) {
            if (rounded[row] != cut || kept[row]) continue;
            if (least < 0 || compare(ids, row, least) < 0) least = row;
        }
        kept[least] = 1;
    }
}

/* The value at which the `most` highest end, given all that round to more than nothing; moves them. */
INLINED double cut_of(double *above, int64_t many, int64_t most) { return many < most ? 0 : selected(above, many, many - most); }

/* Marks the `most` highest of values that are not below 0; 0, or TIED. Where nothing is at the cut, those who have it may be left
   out: they give nothing. */
static int64_t keep_highest(const double *values, int64_t rows, int64_t most, const spelling *ids, uint8_t *kept) {
    memset(kept, most >= rows, (size_t)rows);
    if (most >= rows || most <= 0) return 0;
    double *rounded = malloc(2 * (size_t)rows * sizeof *rounded), *above = rounded + rows;
    if (!rounded) return NO_ROOM;
    int64_t many = 0;
    for (int64_t row = 0; row < rows; row++) {
        rounded[row] = values[row] > 0 ? rint(values[row] * ROUNDING) / ROUNDING : 0;
        if (rounded[row] > 0) above[many++] = rounded[row];
    }
    double cut = cut_of(above, many, most);
    int64_t room = most, equals = 0, positive = 0, done = 0;
    for (int64_t row = 0; row < rows; row++) {
        if (rounded[row] > cut) kept[row] = 1, room--;
        equals += rounded[row] == cut;
        positive += rounded[row] == cut && values[row] > 0;
    }
    if (positive && equals > room && !ids->told) done = TIED;
    else if (positive && equals > room) keep_equals(rounded, rows, cut, room, ids, kept);
    else if (positive) for (int64_t row = 0; row < rows; row++) kept[row] |= rounded[row] == cut;
    free(rounded);
    return done;
}

/* Marks the highest of values that are not below 0 and have any; 0, or TIED. */
EXPORTED int64_t keep_best(const double *values, int64_t rows, int64_t most, const words *told, uint8_t *kept) {
    spelling ids;
    if (spell(&ids, told, rows)) return NO_ROOM;
    int64_t done = keep_highest(values, rows, most, &ids, kept);
    for (int64_t row = 0; row < rows; row++) kept[row] &= values[row] > 0;
    free(ids.starts);
    return done;
}

static void arrive(const wires *in, const double *active, int64_t rows, const synapse_rule *by, double *arriving, double *passed) {
    memset(arriving, 0, (size_t)rows * sizeof *arriving);
    for (int64_t wire = 0; wire < in->many; wire++) {
        double giver = active[in->source[wire]], lets = in->conductance[wire];
        arriving[in->target[wire]] += giver * lets;
        passed[wire] = by->spread * giver * lets;
    }
    for (int64_t row = 0; row < rows; row++) arriving[row] = by->retention * active[row] + by->spread * arriving[row];
}

INLINED double held_back(const double *arriving, const int64_t *top, int64_t tops, int64_t row, double inhibition) {
    double above = 0;
    for (int64_t one = 0; one < tops; one++) {
        double more = arriving[top[one]] - arriving[row];
        if (more > 0) above += more;
    }
    return arriving[row] - inhibition * above;
}

/* One round; 0, TIED, or that there is no room. */
EXPORTED int64_t synapse_round(const wires *in, const double *active, int64_t rows, const synapse_rule *by, const words *told,
                               double *arriving, double *following, double *passed, uint8_t *inhibited) {
    arrive(in, active, rows, by, arriving, passed);
    spelling ids;
    uint8_t *kept = malloc((size_t)rows * (1 + sizeof(int64_t)) + sizeof(int64_t));
    if (!kept || spell(&ids, told, rows)) {
        free(kept);
        return NO_ROOM;
    }
    int64_t *top = (int64_t *)(void *)(kept + ((size_t)rows / 8 + 1) * 8), tops = 0;
    int64_t done = keep_highest(arriving, rows, by->top_m, &ids, kept);
    for (int64_t row = 0; row < rows; row++) if (kept[row]) top[tops++] = row;
    for (int64_t row = 0; row < rows && !done; row++) {
        double left = isnan(by->inhibition) ? (kept[row] ? arriving[row] : 0)
                                            : held_back(arriving, top, tops, row, by->inhibition);
        following[row] = left > 0 ? 1 / (1 + exp(-by->slope * (left - by->threshold))) : 0;
        inhibited[row] = arriving[row] > 0 && left <= 0;
    }
    free(ids.starts);
    free(kept);
    return done;
}

/* A round later, in which so much passed along each wire: a link counts from a fact that was active earlier than its target. 0, or
   TIED. */
EXPORTED int64_t lead_on(const wires *in, const double *passed, const double *reached, int64_t round, const words *told,
                         const way *known, const way *to) {
    spelling ids;
    int64_t rows = to->rows, done = 0, *best = malloc((size_t)(rows + 1) * sizeof *best);
    if (!best || spell(&ids, told, rows)) {
        free(best);
        return NO_ROOM;
    }
    for (int64_t row = 0; row < rows; row++) {
        int64_t since = row < known->rows ? known->since[row] : NEVER;
        to->since[row] = since == NEVER && reached[row] > 0 ? round : since;
        best[row] = -1;
    }
    for (int64_t wire = 0; wire < in->many; wire++) {
        int64_t source = in->source[wire], target = in->target[wire], rival = best[target];
        if (!(passed[wire] > 0 && reached[target] > 0 && to->since[source] < to->since[target])) continue;
        if (rival >= 0 && passed[wire] == passed[rival]) {
            if (!told) done = TIED;
            else if (compare(&ids, source, in->source[rival]) < 0) best[target] = wire;
        } else if (rival < 0 || passed[wire] > passed[rival]) best[target] = wire;
    }
    for (int64_t row = 0; row < rows; row++) {
        double before = row < known->rows ? known->carried[row] : 0;
        int better = best[row] >= 0 && passed[best[row]] > before;
        to->link[row] = better ? in->strongest[best[row]] : row < known->rows ? known->link[row] : NO_LINK;
        to->carried[row] = better ? passed[best[row]] : before;
    }
    free(ids.starts);
    free(best);
    return done;
}

/* What seeds have on one row, those that have any: few do. */
typedef struct {
    int64_t row, many, *seeds;
    double *gives;
} givers;

static void look_up(const flow *of, int64_t row, givers *at) {
    at->row = row;
    at->many = 0;
    for (int64_t seed = 0; seed < of->seeds && row < of->known; seed++) {
        double giver = of->frontier[seed * of->known + row];
        if (giver == 0) continue;
        at->seeds[at->many] = seed;
        at->gives[at->many++] = giver;
    }
}

/* Wires of one source mostly come together, so that what it gives is looked up once. */
static void pass_on(const wires *in, const flow *of, givers *from, double *arrived, double *passed) {
    memset(arrived, 0, (size_t)(of->seeds * of->rows) * sizeof *arrived);
    for (int64_t wire = 0; wire < in->many; wire++) {
        int64_t target = in->target[wire];
        double sum = 0, lets = in->conductance[wire];
        if (in->source[wire] != from->row) look_up(of, in->source[wire], from);
        for (int64_t one = 0; one < from->many; one++) {
            int64_t seed = from->seeds[one];
            if (target < of->known && of->trails[seed * of->known + target] > 0) continue;
            arrived[seed * of->rows + target] += from->gives[one] * lets * of->decay;
            sum += from->gives[one];
        }
        passed[wire] = sum * lets * of->decay;
    }
}

/* What has come about by each seed, with what arrived; that is nothing where others kept it out. */
static void add_on(const flow *of, const uint8_t *kept_out, const double *reached, double *arrived, double *trails) {
    for (int64_t seed = 0; seed < of->seeds; seed++) {
        double *mine = arrived + seed * of->rows, *mine_in_all = trails + seed * of->rows;
        memcpy(mine_in_all, of->trails + seed * of->known, (size_t)of->known * sizeof *trails);
        memset(mine_in_all + of->known, 0, (size_t)(of->rows - of->known) * sizeof *trails);
        for (int64_t row = 0; row < of->rows; row++) {
            if (kept_out[row]) mine[row] = 0;
            else if (reached[row] > 0) mine_in_all[row] += mine[row];
        }
    }
}

/* One hop: what arrived and is kept of it, by seed; what has been come by with it, in all; and whom others kept out. 0, or TIED. */
EXPORTED int64_t diffuse_hop(const wires *in, const flow *of, const words *told, double *arrived, double *trails, double *passed,
                             double *reached, uint8_t *kept_out) {
    spelling ids;
    int64_t rows = of->rows;
    uint8_t *kept = malloc((size_t)rows + 1);
    int64_t *seeds = malloc(2 * (size_t)(of->seeds + 1) * sizeof *seeds);
    if (!kept || !seeds || spell(&ids, told, rows)) {
        free(seeds);
        free(kept);
        return NO_ROOM;
    }
    givers from = {-1, 0, seeds, (double *)(void *)(seeds + of->seeds + 1)};
    pass_on(in, of, &from, arrived, passed);
    memset(reached, 0, (size_t)rows * sizeof *reached);
    for (int64_t seed = 0; seed < of->seeds; seed++)
        for (int64_t row = 0; row < rows; row++) reached[row] += arrived[seed * rows + row];
    int64_t done = keep_highest(reached, rows, of->most, &ids, kept);
    for (int64_t row = 0; row < rows; row++) {
        kept_out[row] = reached[row] > 0 && !kept[row];
        if (!kept[row]) reached[row] = 0;
    }
    add_on(of, kept_out, reached, arrived, trails);
    free(ids.starts);
    free(seeds);
    free(kept);
    return done;
}

/* PageRank among what is kept, begun anew at `found`, which is 0 for all else; into `settled`. */
EXPORTED int64_t refine(const wires *in, const uint8_t *kept, const double *found, int64_t rows, double damping,
                        int64_t iterations, double *settled) {
    double *heard = calloc(2 * (size_t)(rows + 1), sizeof *heard), *told = heard + rows;
    int64_t *among = malloc((size_t)(in->many + rows + 1) * sizeof *among), *left = among + in->many, many = 0, size = 0;
    for (int64_t wire = 0; heard && among && wire < in->many; wire++) {
        int64_t source = in->source[wire], target = in->target[wire];
        if (source == target || !kept[source] || !kept[target]) continue;
        heard[target] += in->conductance[wire];
        among[many++] = wire;
    }
    memcpy(settled, found, (size_t)rows * sizeof *settled);
    for (int64_t row = 0; heard && among && row < rows; row++) if (kept[row]) left[size++] = row;
    for (int64_t turn = 0; heard && among && turn < iterations; turn++) {
        for (int64_t at = 0; at < size; at++) told[left[at]] = 0;
        for (int64_t at = 0; at < many; at++)
            told[in->target[among[at]]] += settled[in->source[among[at]]] * in->conductance[among[at]];
        for (int64_t at = 0; at < size; at++) {
            int64_t row = left[at];
            settled[row] = (1 - damping) * found[row] + damping * (settled[row] + told[row]) / (1 + heard[row]);
        }
    }
    int64_t done = heard && among ? 0 : NO_ROOM;
    free(heard);
    free(among);
    return done;
}

/* One depth of energy paths: `visited` has a row a seed, and knows meanwhile who is claimed. */
typedef struct {
    const frontier *from;
    const wires *in;
    const spelling *ids;
    const int64_t *order;
    uint8_t *visited;
    int64_t rows;
    double threshold;
    int tied;
} depth;

/* The best that a row of the frontier can still pass on. The wires of its fact stand from `first` to `last` in `order`. */
typedef struct {
    int64_t first, last, wire, left;
    double passed;
} offer;

/* Who comes first of two equals, by id; below 0 if it is `one`. */
INLINED int by_id(depth *of, int64_t one, int64_t other) {
    if (one == other) return 0;
    if (of->ids->told) return compare(of->ids, one, other);
    of->tied = 1;
    return 0;
}

INLINED int is_fresh(const depth *of, int64_t row, int64_t wire) {
    return !of->visited[of->from->seed[row] * of->rows + of->in->target[wire]];
}

/* Looks for the best that is left; whether there is any. */
static int look_again(depth *of, offer *offers, int64_t row) {
    offer *mine = offers + row;
    mine->passed = of->threshold;
    mine->wire = -1;
    for (int64_t at = mine->first; at < mine->last; at++) {
        int64_t wire = of->order[at];
        double passed = of->from->energy[row] * of->in->conductance[wire];
        if (passed < mine->passed || !(passed > of->threshold) || !is_fresh(of, row, wire)) continue;
        if (mine->wire >= 0 && passed == mine->passed &&
            by_id(of, of->in->target[wire], of->in->target[mine->wire]) >= 0) continue;
        mine->passed = passed;
        mine->wire = wire;
    }
    return mine->wire >= 0;
}

/* Whether one row passes on before another: the higher energy, of equals by parent, child, wire and row. */
static int comes_before(depth *of, const offer *offers, int64_t one, int64_t other) {
    const offer *mine = offers + one, *theirs = offers + other;
    if (mine->passed != theirs->passed) return mine->passed > theirs->passed;
    int order = by_id(of, of->from->fact[one], of->from->fact[other]);
    if (!order) order = by_id(of, of->in->target[mine->wire], of->in->target[theirs->wire]);
    if (order) return order < 0;
    return mine->wire != theirs->wire ? mine->wire < theirs->wire : one < other;
}

/* Moves the row on top of a heap down to its place. */
static void sink(depth *of, const offer *offers, int64_t *heap, int64_t size, int64_t at) {
    for (int64_t child; (child = 2 * at + 1) < size; at = child) {
        if (child + 1 < size && comes_before(of, offers, heap[child + 1], heap[child])) child++;
        if (!comes_before(of, offers, heap[child], heap[at])) return;
        int64_t moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

/* Puts wires in the order of their sources; those of a row begin where that of the row before ends, in `ends`, which is 0 before. */
static void by_source(const wires *in, int64_t rows, int64_t *ends, int64_t *order) {
    for (int64_t wire = 0; wire < in->many; wire++) ends[in->source[wire] + 1]++;
    for (int64_t row = 0; row < rows; row++) ends[row + 1] += ends[row];
    for (int64_t wire = 0; wire < in->many; wire++) order[ends[in->source[wire]]++] = wire;
}

/* What each row could pass on, and why it may not: 0, nobody is new; 1, nobody gets enough; 2, others may give more. */
static void look_around(depth *of, offer *offers, const int64_t *ends, uint8_t *reason, int64_t branches) {
    for (int64_t row = 0; row < of->from->many; row++) {
        int64_t fact = of->from->fact[row], first = fact ? ends[fact - 1] : 0, last = ends[fact];
        offers[row] = (offer){first, last, -1, branches, 0};
        reason[row] = 0;
        for (int64_t at = first; at < last && reason[row] < 2; at++) {
            int64_t wire = of->order[at];
            if (!is_fresh(of, row, wire)) continue;
            reason[row] = of->from->energy[row] * of->in->conductance[wire] > of->threshold ? 2 : 1;
        }
    }
}

/* Rows claim their targets, the highest energy first, each so many; what was claimed is written in that order. How many. */
static int64_t claim(depth *of, offer *offers, int64_t *heap, uint8_t *reason, const claims *to) {
    int64_t size = 0, claimed = 0;
    for (int64_t row = 0; row < of->from->many; row++)
        if (reason[row] == 2 && offers[row].left > 0 && look_again(of, offers, row)) heap[size++] = row;
    for (int64_t at = size / 2 - 1; at >= 0; at--) sink(of, offers, heap, size, at);
    while (size && !of->tied) {
        int64_t row = heap[0];
        offer *mine = offers + row;
        if (is_fresh(of, row, mine->wire)) {
            to->parent[claimed] = row;
            to->wire[claimed] = mine->wire;
            to->child[claimed] = of->in->target[mine->wire];
            to->seed[claimed] = of->from->seed[row];
            to->link[claimed] = of->in->strongest[mine->wire];
            of->visited[to->seed[claimed] * of->rows + to->child[claimed]] = 1;
            to->passed[claimed++] = mine->passed;
            reason[row] = 3;
            mine->left--;
        }
        if (!mine->left || !look_again(of, offers, row)) heap[0] = heap[--size];
        sink(of, offers, heap, size, 0);
    }
    return claimed;
}

static void widen(const visits *of) {
    for (int64_t seed = 0; seed < of->seeds; seed++) {
        memcpy(of->after + seed * of->rows, of->before + seed * of->known, (size_t)of->known);
        memset(of->after + seed * of->rows + of->known, 0, (size_t)(of->rows - of->known));
    }
}

/* One depth for all seeds side by side. How many claims, or TIED. */
EXPORTED int64_t branch(const wires *in, const frontier *from, const visits *visited, double threshold, int64_t branches,
                        const words *told, const claims *to, uint8_t *reason) {
    int64_t rows = visited->rows;
    spelling ids;
    offer *offers = malloc((size_t)(from->many + 1) * sizeof *offers);
    int64_t *ends = calloc((size_t)(rows + 1 + in->many + from->many), sizeof *ends);
    int64_t *order = ends + rows + 1, *heap = order + in->many;
    if (!offers || !ends || spell(&ids, told, rows)) {
        free(ends);
        free(offers);
        return NO_ROOM;
    }
    widen(visited);
    by_source(in, rows, ends, order);
    depth of = {from, in, &ids, order, visited->after, rows, threshold, 0};
    look_around(&of, offers, ends, reason, branches);
    int64_t claimed = claim(&of, offers, heap, reason, to);
    free(ids.starts);
    free(ends);
    free(offers);
    return of.tied ? TIED : claimed;
}
