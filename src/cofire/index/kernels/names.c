/* Names: where the names that facts hold lead, and who is about a name. The twin of paths and owners in stores/index/looking.py. */

#include "kernels.h"

/* One way of holding names, by position and by name: pairs of both in one number, in order, with how strongly (in thousandths) and
   in which sentences (a bit each); and for each name, as a term, who holds it. */
typedef struct {
    const int64_t *pairs;
    int64_t size;
    const uint16_t *strengths;
    const uint32_t *sentences;
    const segment *segments;
    int64_t many;
} holding;

/* All facts: who is there, who may be led to, and an order of contents; `marks` is -1 everywhere before and after. */
typedef struct {
    const uint8_t *alive, *admitted;
    const int64_t *hashes;
    int32_t *marks;
} crowd;

/* How far names lead: those that merely mention a name that more than `common` hold are left out, of each name at most `most` are led
   to, and of what more than `leading` hold one way nobody is that way. */
typedef struct {
    int64_t common, most, leading;
} limits;

/* A row a name that a seed holds, a row a link, and the positions of all facts; with room for so many. */
typedef struct {
    int64_t *holder, *name, *count, *sentences;
    double *own, *sure;
    int64_t steps_room;
    int64_t *step, *target, *there;
    double *strength;
    int64_t links_room;
    int64_t *positions;
    int64_t steps, links, facts;
} paths;

/* More than there is room for: the caller comes again with more. */
#define TOO_MANY (-2)

typedef struct {
    int64_t hash;
    int32_t position;
    int32_t strength;
} holder;

/* A name among those of the seeds: where its holders begin in the list of all, how many there are, and how many hold it. */
typedef struct {
    int64_t name, first, many, count;
} known;

#define NAME(pair) ((pair) & 0xFFFFFFFF)

/* The names of each seed, mentioned or its subject or both, in the order of names; 0, or that there is no room. */
static int64_t hold(const holding *mentions, const holding *subjects, const int64_t *seeds, int64_t many, paths *out) {
    out->steps = 0;
    for (int64_t seed = 0; seed < many; seed++) {
        int64_t low = seeds[seed] << 32, high = (seeds[seed] + 1) << 32;
        int64_t told = below(mentions->pairs, mentions->size, low), meant = below(subjects->pairs, subjects->size, low);
        for (;;) {
            int more = told < mentions->size && mentions->pairs[told] < high;
            int owned = meant < subjects->size && subjects->pairs[meant] < high;
            if (!more && !owned) break;
            if (out->steps == out->steps_room) return TOO_MANY;
            int64_t mentioned = more ? mentions->pairs[told] : INT64_MAX, about = owned ? subjects->pairs[meant] : INT64_MAX;
            int64_t pair = mentioned < about ? mentioned : about, at = out->steps++;
            out->holder[at] = seed;
            out->name[at] = NAME(pair);
            out->sentences[at] = mentioned == pair ? mentions->sentences[told] : 0;
            double sure = mentioned == pair ? mentions->strengths[told] / 1000.0 : 0;
            out->own[at] = about == pair ? subjects->strengths[meant] / 1000.0 : 0;
            out->sure[at] = sure > out->own[at] ? sure : out->own[at];
            told += mentioned == pair;
            meant += about == pair;
        }
    }
    return 0;
}

static int by_number(const void *one, const void *other) {
    int64_t left = *(const int64_t *)one, right = *(const int64_t *)other;
    return (left > right) - (left < right);
}

/* Those most about a name first, then by content. */
static int by_strength(const void *one, const void *other) {
    const holder *left = one, *right = other;
    if (left->strength != right->strength) return left->strength < right->strength ? 1 : -1;
    return (left->hash > right->hash) - (left->hash < right->hash);
}

/* Who holds a name one way, as every segment tells it. */
typedef struct {
    run *runs;
    int64_t many;
} told;

static void look_up(const holding *in, int64_t name, told *found) {
    for (int64_t part = 0; part < found->many; part++) found->runs[part] = run_of(in->segments + part, name);
}

/* How many of those who hold a name are there. */
static int64_t living(const told *in, const crowd *facts) {
    int64_t count = 0;
    for (int64_t part = 0; part < in->many; part++)
        for (int64_t at = 0; at < in->runs[part].size; at++) count += facts->alive[in->runs[part].positions[at]];
    return count;
}

/* Mark those who hold a name, or unmark them by -1; how many of those there were not marked before. */
static int64_t marked(const told *in, const crowd *facts, int32_t mark) {
    int64_t count = 0;
    for (int64_t part = 0; part < in->many; part++)
        for (int64_t at = 0; at < in->runs[part].size; at++) {
            int32_t position = in->runs[part].positions[at];
            if (!facts->alive[position]) continue;
            count += facts->marks[position] < 0;
            facts->marks[position] = mark;
        }
    return count;
}

/* Those who hold a name one way and may be led to, after `many` others in the list. Of a common name only those are who are about it
   by more than nothing. */
static int64_t listed(const told *in, const crowd *facts, int is_about, int is_common, holder *list, int64_t many) {
    for (int64_t part = 0; part < in->many; part++)
        for (int64_t at = 0; at < in->runs[part].size; at++) {
            int32_t position = in->runs[part].positions[at];
            /* Who is about a name is marked, and not led to once more for mentioning it. */
            if (!facts->admitted[position] || !facts->alive[position] || (!is_about && facts->marks[position] >= 0)) continue;
            holder one = {facts->hashes[position], position, is_about ? in->runs[part].counts[at] : 0};
            if (is_common && !one.strength) continue;
            list[many++] = one;
        }
    return many;
}

/* How many hold a name one way or the other. */
static int64_t either(const told *mentioning, const told *about, int64_t mentioned, int64_t meant, const crowd *facts) {
    if (!mentioned || !meant) return mentioned + meant;
    int64_t count = marked(about, facts, 0) + marked(mentioning, facts, 0);
    marked(mentioning, facts, -1);
    marked(about, facts, -1);
    return count;
}

/* Who may be led to by one name, the foremost first, into `to`; `list` has room for all who hold it. */
static known led_to(const told *mentioning, const told *about, int64_t name, const crowd *facts, const limits *far,
                    holder *list, holder *to) {
    int64_t meant = living(about, facts), mentioned = living(mentioning, facts), many = 0;
    int64_t count = either(mentioning, about, mentioned, meant, facts);
    int led_by_subject = meant && meant <= far->leading;
    if (led_by_subject) {
        many = listed(about, facts, 1, count > far->common, list, many);
        marked(about, facts, 0);
    }
    if (mentioned <= far->leading && count <= far->common) many = listed(mentioning, facts, 0, 0, list, many);
    if (led_by_subject) marked(about, facts, -1);
    qsort(list, (size_t)many, sizeof *list, by_strength);
    if (many > far->most) many = far->most;
    memcpy(to, list, (size_t)many * sizeof *to);
    known found = {name, 0, many, count};
    return found;
}

static const known *known_as(const known *names, int64_t many, int64_t name) {
    int64_t low = 0, high = many;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (names[middle].name < name) low = middle + 1;
        else high = middle;
    }
    return names + low;
}

/* The sentences in which a fact mentions a name. */
static int64_t sentences_of(const holding *mentions, int64_t position, int64_t name) {
    int64_t pair = position << 32 | name, at = below(mentions->pairs, mentions->size, pair);
    return at < mentions->size && mentions->pairs[at] == pair ? mentions->sentences[at] : 0;
}

/* A link for each name of a seed to each that it leads to, but for the seed itself; 0, or that there is no room. */
static int64_t link(const holding *mentions, const int64_t *seeds, const known *names, int64_t many, const holder *all,
                    paths *out) {
    out->links = 0;
    for (int64_t step = 0; step < out->steps; step++) {
        const known *name = known_as(names, many, out->name[step]);
        out->count[step] = name->count;
        for (int64_t at = name->first; at < name->first + name->many; at++) {
            if (all[at].position == seeds[out->holder[step]]) continue;
            if (out->links == out->links_room) return TOO_MANY;
            int64_t made = out->links++;
            out->step[made] = step;
            out->target[made] = all[at].position;
            out->strength[made] = all[at].strength / 1000.0;
            out->there[made] = sentences_of(mentions, all[at].position, out->name[step]);
        }
    }
    return 0;
}

/* All facts on the paths, the seeds first and then the others by position; targets become rows of these. */
static void number_facts(const int64_t *seeds, int64_t many, const crowd *facts, paths *out) {
    out->facts = many;
    for (int64_t seed = 0; seed < many; seed++) {
        out->positions[seed] = seeds[seed];
        facts->marks[seeds[seed]] = (int32_t)seed;
    }
    for (int64_t at = 0; at < out->links; at++)
        if (facts->marks[out->target[at]] < 0) {
            facts->marks[out->target[at]] = 0;
            out->positions[out->facts++] = out->target[at];
        }
    qsort(out->positions + many, (size_t)(out->facts - many), sizeof *out->positions, by_number);
    for (int64_t fact = many; fact < out->facts; fact++) facts->marks[out->positions[fact]] = (int32_t)fact;
    for (int64_t at = 0; at < out->links; at++) out->target[at] = facts->marks[out->target[at]];
    for (int64_t fact = 0; fact < out->facts; fact++) facts->marks[out->positions[fact]] = -1;
}

static int64_t size_of(const told *in) {
    int64_t size = 0;
    for (int64_t part = 0; part < in->many; part++) size += in->runs[part].size;
    return size;
}

/* What is needed while names are looked up: who holds the one at hand, a list of them, and all that are led to by any. */
typedef struct {
    told mentioning, about;
    holder *list, *all;
    int64_t room;
    known *met;
} desk;

/* Room for as many holders as the name at hand has; whether there is. */
static int make_room(desk *on) {
    int64_t wanted = size_of(&on->mentioning) + size_of(&on->about);
    if (wanted <= on->room) return 1;
    free(on->list);
    on->list = malloc((size_t)(2 * wanted) * sizeof *on->list);
    on->room = on->list ? 2 * wanted : 0;
    return on->list != 0;
}

/* Where each of some names leads; whether there was room. */
static int look_up_all(const holding *mentions, const holding *subjects, const int64_t *names, int64_t many,
                       const crowd *facts, const limits *far, desk *on) {
    int64_t used = 0;
    for (int64_t at = 0; at < many; at++) {
        look_up(mentions, names[at], &on->mentioning);
        look_up(subjects, names[at], &on->about);
        if (!make_room(on)) return 0;
        on->met[at] = led_to(&on->mentioning, &on->about, names[at], facts, far, on->list, on->all + used);
        on->met[at].first = used;
        used += on->met[at].many;
    }
    return 1;
}

/* From facts over their names to others: 0, or that there is no room in `out` or at all. No seed stands there twice. */
EXPORTED int64_t paths_over_names(const holding *mentions, const holding *subjects, const int64_t *seeds, int64_t many,
                                  const crowd *facts, const limits *far, paths *out) {
    if (hold(mentions, subjects, seeds, many, out) == TOO_MANY) return TOO_MANY;
    int64_t *names = malloc((size_t)(out->steps + 1) * sizeof *names), distinct = 0, ended = NO_ROOM;
    run *runs = malloc((size_t)(mentions->many + subjects->many + 1) * sizeof *runs);
    desk on = {{runs, mentions->many}, {runs ? runs + mentions->many : 0, subjects->many}, 0, 0, 0, 0};
    if (names && runs) {
        memcpy(names, out->name, (size_t)out->steps * sizeof *names);
        qsort(names, (size_t)out->steps, sizeof *names, by_number);
        for (int64_t at = 0; at < out->steps; at++)
            if (!distinct || names[distinct - 1] != names[at]) names[distinct++] = names[at];
        on.all = malloc((size_t)(distinct * far->most + 1) * sizeof *on.all);
        on.met = malloc((size_t)(distinct + 1) * sizeof *on.met);
        if (on.all && on.met && look_up_all(mentions, subjects, names, distinct, facts, far, &on)) {
            ended = link(mentions, seeds, on.met, distinct, on.all, out);
            if (!ended) number_facts(seeds, many, facts, out);
        }
    }
    free(names);
    free(runs);
    free(on.list);
    free(on.all);
    free(on.met);
    return ended;
}

/* Who is about each of some names, at most so many, the strongest first: the place of the name, the position and how strongly. How
   many rows there are. */
EXPORTED int64_t owners_of_names(const holding *subjects, const int64_t *names, int64_t many, const crowd *facts, int64_t most,
                                 int64_t *places, int64_t *positions, double *strengths) {
    run *runs = malloc((size_t)(subjects->many + 1) * sizeof *runs);
    desk on = {{runs, 0}, {runs, subjects->many}, 0, 0, 0, 0};
    int64_t rows = runs ? 0 : NO_ROOM;
    for (int64_t name = 0; name < many && rows != NO_ROOM; name++) {
        look_up(subjects, names[name], &on.about);
        if (!make_room(&on)) {
            rows = NO_ROOM;
            break;
        }
        int64_t found = listed(&on.about, facts, 1, 0, on.list, 0);
        qsort(on.list, (size_t)found, sizeof *on.list, by_strength);
        for (int64_t at = 0; at < found && at < most; at++, rows++) {
            places[rows] = name;
            positions[rows] = on.list[at].position;
            strengths[rows] = on.list[at].strength / 1000.0;
        }
    }
    free(runs);
    free(on.list);
    return rows;
}
