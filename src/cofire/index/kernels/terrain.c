/* Terrain: links that were read become wires between rows. The twin of dynamics/conductance.py and of `grown` in verbs/terrain.py. */

#include "roster.h"
#include "wires.h"

/* As in dynamics/conductance.py. */
#define MISSING_CONFIDENCE 1.0
/* So few are put in order by moving each to its place. */
#define FEW 16

/* What a link lets through from row to row. */
typedef struct {
    int64_t source, target, link;
    double conductance;
} strand;

INLINED double clipped(double value) { return value < 0 ? 0 : value > 1 ? 1 : value; }

INLINED double said(double value, double otherwise) { return clipped(isnan(value) ? otherwise : value); }

INLINED int comes_after(const strand *one, const strand *other) {
    if (one->source != other->source) return one->source > other->source;
    if (one->target != other->target) return one->target > other->target;
    return one->conductance < other->conductance;
}

static void place_few(strand *some, int64_t many) {
    for (int64_t next = 1; next < many; next++) {
        strand moved = some[next];
        int64_t at = next;
        for (; at > 0 && comes_after(some + at - 1, &moved); at--) some[at] = some[at - 1];
        some[at] = moved;
    }
}

/* By source, target and conductance, equals in the order in which they came (merge sort). */
static void put_in_order(strand *some, int64_t many, strand *room) {
    if (many <= FEW) {
        place_few(some, many);
        return;
    }
    int64_t half = many / 2;
    put_in_order(some, half, room);
    put_in_order(some + half, many - half, room);
    if (!comes_after(some + half - 1, some + half)) return;
    memcpy(room, some, (size_t)half * sizeof *some);
    for (int64_t left = 0, right = half, at = 0; left < half; at++) {
        if (right < many && comes_after(room + left, some + right)) some[at] = some[right++];
        else some[at] = room[left++];
    }
}

/* Parallel strands as one wire each: 1 − Π(1 − c). How many wires there are. */
static int64_t bundle(strand *some, int64_t many, const wires *to) {
    int64_t found = 0;
    put_in_order(some, many, some + many);
    for (int64_t first = 0, next; first < many; first = next) {
        const strand *best = some + first;
        double blocks = 1 - best->conductance;
        for (next = first + 1; next < many; next++) {
            if (some[next].source != best->source || some[next].target != best->target) break;
            blocks *= 1 - some[next].conductance;
        }
        to->source[found] = best->source;
        to->target[found] = best->target;
        to->strongest[found] = best->link;
        to->conductance[found++] = next == first + 1 ? best->conductance : 1 - blocks;
    }
    return found;
}

/* Room for so many strands, and to put them in order. */
INLINED strand *strands(int64_t many) { return malloc((size_t)(many + many / 2 + 1) * sizeof(strand)); }

/* The more neighbours there are, the less each gets. */
INLINED double among(int64_t degree) { return degree > 1 ? (double)degree : 1.0; }

/* Links as they are read: `other` is confidence or likeness of tags, `degree` by row; either is null where it does not count. */
typedef struct {
    const int64_t *source, *target;
    const double *weight, *other;
    const int64_t *degree;
    int64_t many;
} loose;

/* Links as wires, each by itself: the more neighbours a fact has, the less each gets, c/√d. */
EXPORTED int64_t fan_wires(const loose *in, double *conductance) {
    for (int64_t link = 0; link < in->many; link++) {
        double lets = said(in->weight[link], MISSING_WEIGHT);
        if (in->other) lets *= in->other[link];
        conductance[link] = lets / sqrt(among(in->degree[in->source[link]]));
    }
    return in->many;
}

/* Parallel links as one wire each, then shared among neighbours where that counts. How many wires there are. */
EXPORTED int64_t merge_wires(const loose *in, const wires *to) {
    strand *some = strands(in->many);
    if (!some) return NO_ROOM;
    for (int64_t link = 0; link < in->many; link++) {
        double lets = said(in->weight[link], MISSING_WEIGHT);
        if (in->other) lets *= said(in->other[link], MISSING_CONFIDENCE);
        some[link] = (strand){in->source[link], in->target[link], link, lets};
    }
    int64_t found = bundle(some, in->many, to);
    for (int64_t wire = 0; in->degree && wire < found; wire++) to->conductance[wire] /= among(in->degree[to->source[wire]]);
    free(some);
    return found;
}

/* What is known by row: how many neighbours there are, and what links had to conduct that were read. */
typedef struct {
    int64_t *around;
    double *least;
    int64_t rows;
} land;

static void mark(const reading *in, const int64_t *rows, const land *before, land *now) {
    memcpy(now->around, before->around, (size_t)before->rows * sizeof *now->around);
    memcpy(now->least, before->least, (size_t)before->rows * sizeof *now->least);
    for (int64_t row = before->rows; row < now->rows; row++) {
        now->around[row] = 0;
        now->least[row] = INFINITY;
    }
    for (int64_t at = 0; at < in->asked; at++) now->least[rows[at]] = in->needs ? in->needs[at] : 0;
    for (int64_t at = in->asked; in->around && at < in->ids; at++) now->around[rows[at]] = in->around[at - in->asked];
}

INLINED double lets(const reading *in, int64_t link) {
    double weight = said(in->weight[link], MISSING_WEIGHT);
    if (!in->other) return weight;
    return weight * (in->way == TRUSTED ? said(in->other[link], MISSING_CONFIDENCE) : in->other[link]);
}

INLINED int64_t row_at(const int64_t *rows, int64_t at) { return rows ? rows[at] : at; }

static int64_t wire_alone(const reading *in, const int64_t *rows, const wires *to) {
    for (int64_t link = 0; link < in->links; link++) {
        to->source[link] = row_at(rows, in->source[link]);
        to->target[link] = row_at(rows, in->target[link]);
        to->strongest[link] = in->first + link;
        to->conductance[link] = lets(in, link) / sqrt(among(in->degree[in->source[link]]));
    }
    return in->links;
}

static int64_t wire_merged(const reading *in, const int64_t *rows, const wires *to) {
    strand *some = strands(in->links);
    if (!some) return NO_ROOM;
    for (int64_t link = 0; link < in->links; link++)
        some[link] = (strand){row_at(rows, in->source[link]), row_at(rows, in->target[link]), link, lets(in, link)};
    int64_t found = bundle(some, in->links, to);
    for (int64_t wire = 0; wire < found; wire++) {
        if (in->way == SHARED) to->conductance[wire] /= among(in->degree[in->source[to->strongest[wire]]]);
        to->strongest[wire] += in->first;
    }
    free(some);
    return found;
}

int64_t wire_fact(const reading *in, int64_t *seen, const wires *to) {
    for (int64_t link = 0; link < in->links; link++) {
        if (seen[in->target[link]] == in->first + 1) return wire_merged(in, 0, to);
        seen[in->target[link]] = in->first + 1;
        to->source[link] = in->source[link];
        to->target[link] = in->target[link];
        to->strongest[link] = in->first + link;
        to->conductance[link] = lets(in, link);
        if (in->way == SHARED) to->conductance[link] /= among(in->degree[in->source[link]]);
    }
    return in->links;
}

int64_t wire_reading(const reading *in, const int64_t *rows, const wires *to) {
    return in->way == ALONE ? wire_alone(in, rows, to) : wire_merged(in, rows, to);
}

/* The rows of places; one that was not met before gets the next. How many there are now. */
EXPORTED int64_t meet(roster *known, const int64_t *places, int64_t many, int64_t *rows) {
    meet_all(known, places, many, rows);
    return known->many;
}

/* A terrain with what was read: the rows of its facts, what is known of all rows, and the wires from before with the new ones. How
   many wires there are. */
EXPORTED int64_t grow(roster *known, const reading *in, const wires *before, const land *was, int64_t *rows, land *now, wires *to) {
    meet_all(known, in->places, in->ids, rows);
    now->rows = known->many;
    mark(in, rows, was, now);
    size_t kept = (size_t)before->many * sizeof(int64_t);
    memcpy(to->source, before->source, kept);
    memcpy(to->target, before->target, kept);
    memcpy(to->strongest, before->strongest, kept);
    memcpy(to->conductance, before->conductance, kept);
    wires later = {to->source + before->many, to->target + before->many, to->strongest + before->many,
                   to->conductance + before->many, 0};
    int64_t found = wire_reading(in, rows, &later);
    return found < 0 ? found : before->many + found;
}
