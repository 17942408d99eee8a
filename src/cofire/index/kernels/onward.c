/* Onward: spreads that go on by themselves, reading the links they come to. The twin of `synapse` and `diffuse` in verbs/spreading.py and
   of `energise` in verbs/energising.py, which ask for links once a depth and come to the same. */

#include "journey.h"

static void *zeros(int64_t many, size_t size) { return calloc((size_t)many + 1, size); }

/* Room that is written before it is read. */
static void *space(int64_t many, size_t size) { return malloc(((size_t)many + 1) * size); }

static way way_of(const journey *on, int64_t rows) {
    int64_t *const *in = on->facts.columns;
    return (way){in[SINCE], in[BEST], shares_of(&on->facts, CARRIED), rows};
}

/* Asks for the links of all rows with any activation that were not read before, in the order of their ids. */
static int64_t ask_for_active(journey *on, const double *active, const uint8_t *kept) {
    int64_t rows = on->facts.many, many = 0, *wanted = malloc((size_t)(rows + 1) * sizeof *wanted);
    if (!wanted || ask_nobody(on, rows)) {
        free(wanted);
        return NO_ROOM;
    }
    for (int64_t row = 0; row < rows; row++)
        if ((kept ? kept[row] : active[row] > 0) && isinf(shares_of(&on->facts, LEAST)[row])) wanted[many++] = row;
    int64_t done = put_by_strength(on, wanted, many, 0);
    for (int64_t one = 0; one < many && !done; one++) ask_for(on, wanted[one], 0);
    free(wanted);
    return done;
}

/* A round or hop is over, in which so much passed along each wire and was reached. Takes `reached` over. */
static int64_t close_round(journey *on, const double *passed, double *reached, const uint8_t *silenced) {
    wires in = wires_of(on);
    words ids = words_of(on);
    way known = way_of(on, on->known), now = way_of(on, on->facts.many);
    on->depth++;
    int64_t done = lead_on(&in, passed, reached, on->depth, &ids, &known, &now);
    free(on->active);
    on->active = reached;
    on->known = on->facts.many;
    return done ? done : record_round(on, reached, silenced);
}

static int64_t synapse_on(journey *on) {
    int64_t rows = on->facts.many, many = on->wired.many;
    double *active = zeros(rows, sizeof *active), *following = space(rows, sizeof *following);
    double *passed = space(rows + many, sizeof *passed);
    uint8_t *silenced = space(rows, 1);
    int64_t done = active && following && passed && silenced ? 0 : NO_ROOM;
    if (!done) {
        wires in = wires_of(on);
        words ids = words_of(on);
        memcpy(active, on->active, (size_t)on->known * sizeof *active);
        done = synapse_round(&in, active, rows, &on->by.synapse, &ids, passed + many, following, passed, silenced);
    }
    if (done) free(following);
    else done = close_round(on, passed, following, silenced);
    free(active);
    free(passed);
    free(silenced);
    if (done) return done;
    return on->depth < on->by.depths ? ask_for_active(on, on->active, 0) : settle_on(on, on->active);
}

/* What there is of all seeds together. */
static double *summed(const double *trails, int64_t seeds, int64_t rows) {
    double *total = zeros(rows, sizeof *total);
    for (int64_t seed = 0; total && seed < seeds; seed++)
        for (int64_t row = 0; row < rows; row++) total[row] += trails[seed * rows + row];
    return total;
}

/* Chooses what refinement is among: the seeds, and the best of what was found; and leaves what that has. */
static int64_t choose(journey *on) {
    int64_t rows = on->facts.many;
    words ids = words_of(on);
    double *total = summed(on->trails, on->seeds, rows), *others = zeros(rows, sizeof *others);
    on->kept = space(rows, 1);
    int64_t done = total && others && on->kept ? 0 : NO_ROOM;
    for (int64_t row = on->seeds; row < rows && !done; row++) others[row] = total[row];
    if (!done) done = keep_best(others, rows, on->by.expanded, &ids, on->kept);
    for (int64_t seed = 0; seed < on->seeds && !done; seed++) on->kept[seed] = 1;
    for (int64_t row = 0; row < rows && !done; row++) if (!on->kept[row]) total[row] = 0;
    free(others);
    free(on->active);
    on->active = total;
    return done;
}

/* What was chosen, refined. Rows that were met since have nothing. */
static int64_t refine_chosen(journey *on) {
    int64_t rows = on->facts.many;
    double *found = zeros(rows, sizeof *found), *settled = space(rows, sizeof *settled);
    uint8_t *kept = zeros(rows, 1);
    int64_t done = found && settled && kept ? 0 : NO_ROOM;
    if (!done) {
        wires in = wires_of(on);
        memcpy(found, on->active, (size_t)on->known * sizeof *found);
        memcpy(kept, on->kept, (size_t)on->known);
        done = refine(&in, kept, found, rows, on->by.damping, on->by.iterations, settled);
    }
    if (!done) done = settle_on(on, settled);
    free(found);
    free(settled);
    free(kept);
    return done;
}

/* One hop of diffusion, which leaves what arrived and what has come about by seed. */
static int64_t hop(journey *on) {
    int64_t rows = on->facts.many, size = on->seeds * rows;
    double *arrived = space(size, sizeof *arrived), *trails = space(size, sizeof *trails);
    double *passed = space(on->wired.many, sizeof *passed), *reached = space(rows, sizeof *reached);
    uint8_t *kept_out = space(rows, 1);
    int64_t done = arrived && trails && passed && reached && kept_out ? 0 : NO_ROOM;
    if (!done) {
        wires in = wires_of(on);
        words ids = words_of(on);
        flow of = {on->frontier, on->trails, on->seeds, on->known, rows, on->by.expanded, on->by.decay};
        done = diffuse_hop(&in, &of, &ids, arrived, trails, passed, reached, kept_out);
    }
    free(on->frontier);
    free(on->trails);
    on->frontier = arrived;
    on->trails = trails;
    if (done) free(reached);
    else done = close_round(on, passed, reached, kept_out);
    free(passed);
    free(kept_out);
    return done;
}

static int64_t diffuse_on(journey *on) {
    if (on->kept) return refine_chosen(on);
    int64_t done = hop(on);
    if (done) return done;
    if (on->depth < on->by.depths) return ask_for_active(on, on->active, 0);
    done = choose(on);
    if (done || on->by.iterations) return done ? done : ask_for_active(on, on->active, on->kept);
    return settle_on(on, on->active);
}

/* What is claimed at the last depth. */
static frontier front_of(const journey *on) {
    int64_t first = on->depth ? on->ends[on->depth - 1] : 0, *const *in = on->records.columns;
    return (frontier){in[SEED] + first, in[CHILD] + first, shares_of(&on->records, PASSED) + first, on->ends[on->depth] - first};
}

/* Asks for the links of all who may have energy enough to pass on, but for those that conduct too little, and those that were read
   before; as `_hopeful` and `further_of_use` do. */
static int64_t ask_for_hopeful(journey *on) {
    frontier from = front_of(on);
    int64_t rows = on->facts.many, hopeful = 0;
    double *most = zeros(rows, sizeof *most), *least = shares_of(&on->facts, LEAST), needed = NEARLY * on->by.least;
    if (!most || ask_nobody(on, rows)) {
        free(most);
        return NO_ROOM;
    }
    for (int64_t at = from.many - 1; at >= 0; at--) {
        int64_t around = on->facts.columns[AROUND][from.fact[at]];
        if (from.energy[at] > needed * sqrt((double)(around > 1 ? around : 1))) most[from.fact[at]] = from.energy[at];
    }
    for (int64_t row = 0; row < rows; row++) {
        if (most[row] == 0) continue;
        hopeful++;
        if (on->by.least / most[row] < least[row]) ask_for(on, row, on->by.least / most[row]);
    }
    free(most);
    on->ended = !hopeful;
    return 0;
}

/* What each fact got in all, seed by seed. Every fact that got any has more than nothing. */
static int64_t add_up(journey *on) {
    double *total = zeros(on->facts.many, sizeof *total), *energy = shares_of(&on->records, PASSED);
    if (!total) return NO_ROOM;
    for (int64_t seed = 0; seed < on->seeds; seed++)
        for (int64_t at = 0; at < on->records.many; at++)
            if (on->records.columns[SEED][at] == seed) total[on->records.columns[CHILD][at]] += energy[at];
    int64_t done = settle_on(on, total);
    free(total);
    return done;
}

/* One depth for all seeds side by side. How many claims, or what stood in the way. */
static int64_t branch_out(journey *on, const frontier *from, uint8_t *visited) {
    int64_t *const *to = on->records.columns, at = on->records.many, rows = on->facts.many;
    uint8_t *reason = space(from->many, 1);
    if (!reason) return NO_ROOM;
    wires in = wires_of(on);
    words ids = words_of(on);
    visits seen = {on->visited, on->seeds, on->known, rows, visited};
    claims made = {to[PARENT] + at, to[WIRE] + at, to[CHILD] + at, to[SEED] + at, to[LINK] + at,
                   shares_of(&on->records, PASSED) + at};
    int64_t claimed = branch(&in, from, &seen, on->by.least, on->by.branches, &ids, &made, reason);
    free(reason);
    return claimed;
}

static int64_t energise_on(journey *on) {
    int64_t rows = on->facts.many, many = front_of(on).many;
    int64_t most = on->by.branches < rows ? on->by.branches : rows;
    uint8_t *visited = space(on->seeds * rows, 1);
    if (!visited || make_room(&on->records, many * most)) {
        free(visited);
        return NO_ROOM;
    }
    frontier from = front_of(on);
    int64_t claimed = branch_out(on, &from, visited);
    free(on->visited);
    on->visited = visited;
    if (claimed < 0) return claimed;
    on->known = rows;
    on->records.many += claimed;
    on->ends[++on->depth] = on->records.many;
    if (on->depth >= on->by.depths) on->ended = 1;
    else if (ask_for_hopeful(on)) return NO_ROOM;
    return on->ended ? add_up(on) : 0;
}

/* Notes how much there is of everything; how many facts are asked for, 0 at the end. */
static int64_t outlined(journey *on) {
    outline *told = &on->told;
    told->facts = on->facts.many;
    told->links = on->links.many;
    told->found = on->found.many;
    told->told = on->records.many;
    told->depths = on->depth;
    told->asked = on->ended ? 0 : on->asked.many;
    told->keys = on->asked.columns[KEY];
    return told->asked;
}

/* Goes on until links are to be read, or there is an end. How many facts are asked for, 0 at the end. */
static int64_t go_on(journey *on) {
    int64_t done = 0;
    do {
        on->asked.many = 0;
        if (on->by.dynamics == ENERGY) done = energise_on(on);
        else done = on->by.dynamics == DIFFUSION ? diffuse_on(on) : synapse_on(on);
    } while (!done && !on->ended && !on->asked.many);
    return done ? done : outlined(on);
}

/* The seeds, as `begun` in the verbs has them; all are asked for. */
static int64_t set_out(journey *on, const int64_t *positions, const double *active) {
    int64_t seeds = on->seeds, *const *to = on->records.columns;
    if (make_room(&on->facts, seeds) || make_room(&on->records, seeds) || ask_nobody(on, seeds)) return NO_ROOM;
    for (int64_t seed = 0; seed < seeds; seed++) {
        if (positions[seed] < 0 || positions[seed] >= on->over.facts) return OUTSIDE;
        if (meet_position(on, positions[seed]) != seed) return OUTSIDE;
        on->facts.columns[SINCE][seed] = 0;
        on->active[seed] = on->frontier[seed * seeds + seed] = on->trails[seed * seeds + seed] = active[seed];
        on->visited[seed * seeds + seed] = 1;
        ask_for(on, seed, on->by.dynamics == ENERGY ? on->by.least / active[seed] : 0);
        if (on->by.dynamics != ENERGY) continue;
        to[CHILD][seed] = to[SEED][seed] = to[LINK][seed] = seed;
        shares_of(&on->records, PASSED)[seed] = active[seed];
        on->ends[0] = ++on->records.many;
    }
    return 0;
}

static void let_go(table *of) {
    for (int64_t column = 0; column < of->width; column++) free(of->columns[column]);
}

/* Ends a journey, wherever it is; none if it did not begin. */
EXPORTED int64_t end_journey(journey *on) {
    if (!on) return 0;
    for (int64_t row = 0; row < on->facts.many; row++) on->over.row_of[on->facts.columns[PLACE][row]] = 0;
    table *const held[] = {&on->facts, &on->links, &on->wired, &on->records, &on->asked, &on->found};
    for (size_t one = 0; one < sizeof held / sizeof *held; one++) let_go(held[one]);
    void *const others[] = {on->ends, on->active, on->frontier, on->trails, on->kept, on->visited};
    for (size_t one = 0; one < sizeof others / sizeof *others; one++) free(others[one]);
    free(on);
    return 0;
}

/* Begins a journey from so many facts, each of which is another and active. 0, or what stood in the way. Where it is stands in `begun`
   before this returns: an interrupt may come right after, and whoever ends it must know of it then. */
EXPORTED int64_t begin_journey(const country *over, const manner *by, const int64_t *positions, const double *active,
                               int64_t seeds, journey **begun) {
    journey *on = calloc(1, sizeof *on);
    if (!on) return NO_ROOM;
    on->over = *over;
    on->by = *by;
    on->seeds = on->known = seeds;
    on->facts.width = 8;
    on->links.width = 7;
    on->wired.width = 4;
    on->records.width = by->dynamics == ENERGY ? 6 : 2;
    on->asked.width = 3;
    on->found.width = 2;
    on->ends = zeros(by->depths + 1, sizeof *on->ends);
    on->active = zeros(seeds, sizeof *on->active);
    on->frontier = zeros(seeds * seeds, sizeof *on->frontier);
    on->trails = zeros(seeds * seeds, sizeof *on->trails);
    on->visited = zeros(seeds * seeds, 1);
    int has_room = on->ends && on->active && on->frontier && on->trails && on->visited;
    int64_t done = has_room ? set_out(on, positions, active) : NO_ROOM;
    if (!done) {
        outlined(on);
        *begun = on;
        return 0;
    }
    end_journey(on);
    return done;
}

/* Reads the links of those it asks for, with newer ones, and goes on from there. How many facts it asks for then, 0 at the end. */
EXPORTED int64_t continue_journey(journey *on, const newer *late) {
    int64_t done = read_asked(on, late);
    return done ? done : go_on(on);
}

INLINED int64_t *copied(int64_t *to, const int64_t *from, int64_t many) {
    if (many) memcpy(to, from, (size_t)many * sizeof *to);
    return to + many;
}

/* Tells all of it, one column after the other: facts, links, what is active at the end, and rounds or depths with where each ends. */
EXPORTED int64_t tell_journey(const journey *on, int64_t *to) {
    const outline *of = &on->told;
    const int64_t facts[] = {PLACE, BEST, CARRIED}, links[] = {SOURCE, TARGET, CODE, WEIGHT, CONFIDENCE};
    for (int64_t one = 0; one < 3; one++) to = copied(to, on->facts.columns[facts[one]], of->facts);
    for (int64_t one = 0; one < 5; one++) to = copied(to, on->links.columns[links[one]], of->links);
    for (int64_t one = 0; one < 2; one++) to = copied(to, on->found.columns[one], of->found);
    for (int64_t one = on->by.dynamics == ENERGY ? CHILD : 0; one < on->records.width; one++)
        to = copied(to, on->records.columns[one], of->told);
    copied(to, on->ends, of->depths + 1);
    return 0;
}
