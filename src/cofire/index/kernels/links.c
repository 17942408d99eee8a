/* Links: which of them leave facts. The twin of `strongest` and `degrees` in stores/index/adjacency.py. */

#include "links.h"
#include "wires.h"

/* As in stores/index/halves.py. */
#define MILLION 1e6
/* What is looked at so many facts from now is fetched already. */
#define AHEAD 4
#define LINE 16

/* A link with what decides its place among those of a fact. */
typedef struct {
    int64_t weak, kind, content, parallel;
    int64_t target, around, code, at;
    double weight, confidence;
} ranked;

INLINED int passes(const sieve *by, half of) {
    int32_t place = by->places[of.neighbour];
    if (place < 0 || !by->admitted[place]) return 0;
    if (by->floor > 0 && of.confidence >= 0 && of.confidence < by->floor) return 0;
    return !by->kinds || by->kinds[of.code >> 1];
}

INLINED double share(int32_t millionths) { return millionths < 0 ? NAN : millionths / MILLION; }

INLINED void add(const adjacency *in, const sieve *by, half of, int64_t source, int64_t at, expansion *to) {
    int64_t link = to->links++;
    to->source[link] = source;
    to->target[link] = by->places[of.neighbour];
    to->around[link] = in->degree[of.neighbour];
    to->code[link] = of.code;
    to->at[link] = at;
    to->weight[link] = share(of.weight);
    to->confidence[link] = share(of.confidence);
}

/* The least weight that is of use to a fact with so many neighbours; as `_least_weights` in stores/index/links.py. */
INLINED double least_weight(const asked *of, int64_t one, int64_t degree) {
    double least = of->least ? of->least[of->rows[one]] * sqrt(degree > 1 ? (double)degree : 1.0) * NEARLY : 0;
    return least > MISSING_WEIGHT ? least : 0;
}

INLINED int is_of_use(double least, half of) { return least == 0 || (of.weight >= 0 && share(of.weight) >= least); }

static void follow(const adjacency *in, const sieve *by, const asked *of, int64_t one, double least, expansion *to) {
    int64_t key = of->keys[one], left = by->most;
    for (int64_t at = in->starts[key]; at < in->starts[key + 1] && left > 0; at++) {
        half here = {0, in->neighbour[at], in->code[at], in->weight[at], in->confidence[at], 0};
        if (!is_of_use(least, here)) return;
        if (!in->alive[at] || !passes(by, here)) continue;
        add(in, by, here, of->rows[one], at, to);
        left--;
    }
}

INLINED int is_weaker(const ranked *one, const ranked *other) {
    if (one->weak != other->weak) return one->weak > other->weak;
    if (one->kind != other->kind) return one->kind > other->kind;
    if (one->content != other->content) return one->content > other->content;
    return one->parallel > other->parallel;
}

INLINED int64_t millionths(double share) { return share > 0 ? (int64_t)rint((share < 1 ? share : 1) * MILLION) : 0; }

/* The links of one fact from the `first` on, the strongest first and at most so many. */
static void arrange(const sieve *by, const newer *late, int64_t first, ranked *room, expansion *to) {
    int64_t many = to->links - first;
    for (int64_t next = 0; next < many; next++) {
        int64_t link = first + next, code = to->code[link], target = to->target[link], at = next;
        double weight = to->weight[link], sure = to->confidence[link];
        ranked moved = {-millionths(weight), late->ranks[code >> 1], late->contents[target],
                        (code & 1) - 2 * (sure > 0 ? (int64_t)rint(sure * MILLION) : 0),
                        target, to->around[link], code, to->at[link], weight, sure};
        for (; at > 0 && is_weaker(room + at - 1, &moved); at--) room[at] = room[at - 1];
        room[at] = moved;
    }
    if (many > by->most) many = by->most;
    for (int64_t at = 0; at < many; at++) {
        to->target[first + at] = room[at].target;
        to->around[first + at] = room[at].around;
        to->code[first + at] = room[at].code;
        to->at[first + at] = room[at].at;
        to->weight[first + at] = room[at].weight;
        to->confidence[first + at] = room[at].confidence;
    }
    to->links = first + many;
}

/* Adds the newer links of one fact to those of the base. */
static void follow_newer(const adjacency *in, const sieve *by, int64_t source, const half *late, int64_t newer, double least,
                         expansion *to) {
    for (int64_t at = 0; at < newer; at++)
        if (is_of_use(least, late[at]) && passes(by, late[at])) add(in, by, late[at], source, -1 - late[at].tags, to);
}

/* How many neighbours a fact has by links of these kinds. */
static int64_t neighbours(const adjacency *in, const uint8_t *kinds, int64_t key, const half *late, int64_t newer,
                          uint8_t *marks) {
    if (!kinds) return in->degree[key];
    int64_t many = 0, first = in->starts[key], last = in->starts[key + 1];
    for (int64_t at = 0; at < newer; at++) {
        if (!kinds[late[at].code >> 1] || marks[late[at].neighbour]) continue;
        marks[late[at].neighbour] = 1;
        many++;
    }
    for (int64_t at = first; at < last; at++) {
        if (!in->alive[at] || !kinds[in->code[at] >> 1] || marks[in->neighbour[at]]) continue;
        marks[in->neighbour[at]] = 1;
        many++;
    }
    for (int64_t at = first; at < last; at++) marks[in->neighbour[at]] = 0;
    for (int64_t at = 0; at < newer; at++) marks[late[at].neighbour] = 0;
    return many;
}

/* From the positions that links lead to, in `target`, to rows: those asked for have theirs, others get the next, in the order in which
   they are met; how many. */
static int64_t number(const asked *of, expansion *to) {
    int64_t others = 0;
    for (int64_t one = 0; one < of->many; one++) to->row_of[of->positions[one]] = (int32_t)of->rows[one] + 1;
    for (int64_t link = 0; link < to->links; link++) {
        int64_t position = to->target[link];
        if (!to->row_of[position]) {
            if (to->around) to->around[others] = to->around[link];
            to->others[others++] = position;
            to->row_of[position] = (int32_t)(of->ids + others);
        }
        to->target[link] = to->row_of[position] - 1;
    }
    for (int64_t one = 0; one < of->many; one++) to->row_of[of->positions[one]] = 0;
    for (int64_t other = 0; other < others; other++) to->row_of[to->others[other]] = 0;
    return others;
}

/* The rows of links that are known by the positions they lead to, in `target`; how many facts those are besides the asked. */
EXPORTED int64_t number_links(const asked *of, expansion *to) { return number(of, to); }

/* How many links there may be at most. */
EXPORTED int64_t links_at_most(const adjacency *in, const int64_t *keys, int64_t many, int64_t most) {
    int64_t total = 0;
    for (int64_t one = 0; one < many; one++) {
        int64_t links = in->starts[keys[one] + 1] - in->starts[keys[one]];
        total += links < most ? links : most;
    }
    return total;
}

/* Asks for the rows of facts that come later: where they begin, and a little later what they hold. */
INLINED void fetch(const adjacency *in, const asked *of, int64_t one) {
    if (one + 2 * AHEAD < of->many) __builtin_prefetch(in->starts + of->keys[one + 2 * AHEAD]);
    if (one + AHEAD >= of->many) return;
    int64_t first = in->starts[of->keys[one + AHEAD]], last = in->starts[of->keys[one + AHEAD] + 1];
    for (int64_t at = first; at < last && at < first + 4 * LINE; at += LINE) {
        __builtin_prefetch(in->neighbour + at);
        __builtin_prefetch(in->code + at);
        __builtin_prefetch(in->weight + at);
        __builtin_prefetch(in->confidence + at);
    }
    __builtin_prefetch(in->alive + first);
}

int64_t read_links(const adjacency *in, const sieve *by, const asked *of, const newer *late, int64_t space, expansion *to) {
    ranked *room = late->many ? malloc((size_t)(space + 1) * sizeof *room) : 0;
    if (late->many && !room) return NO_ROOM;
    for (int64_t one = 0, next = 0; one < of->many; one++) {
        int64_t first = to->links, before = next, *degree = to->degree + of->rows[one];
        fetch(in, of, one);
        while (next < late->many && late->halves[next].owner == one) next++;
        const half *mine = late->halves + before;
        *degree = neighbours(in, by->kinds, of->keys[one], mine, next - before, to->marks);
        double least = least_weight(of, one, *degree);
        follow(in, by, of, one, least, to);
        follow_newer(in, by, of->rows[one], mine, next - before, least, to);
        if (room) arrange(by, late, first, room, to);
    }
    free(room);
    return 0;
}

/* The strongest links of facts that pass, their degrees, and the rows they lead to; how many facts those are besides the asked. There
   is room for so many links in `to`. */
EXPORTED int64_t expand_links(const adjacency *in, const sieve *by, const asked *of, const newer *late, int64_t space,
                              expansion *to) {
    to->links = 0;
    memset(to->degree, 0, (size_t)of->ids * sizeof *to->degree);
    int64_t done = read_links(in, by, of, late, space, to);
    return done ? done : number(of, to);
}
