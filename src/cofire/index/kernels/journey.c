/* Journey: reads the links that a spread comes to, and makes rows and wires of them, as `grown` in verbs/terrain.py does. */

#include "journey.h"

#define FEWEST 256

int64_t make_room(table *in, int64_t more) {
    if (in->many + more <= in->room) return 0;
    int64_t room = in->many + more > 2 * in->room ? in->many + more : 2 * in->room;
    if (room < FEWEST) room = FEWEST;
    for (int64_t column = 0; column < in->width; column++) {
        int64_t *wider = realloc(in->columns[column], (size_t)room * sizeof *wider);
        if (!wider) return NO_ROOM;
        in->columns[column] = wider;
    }
    in->room = room;
    return 0;
}

int64_t meet_position(journey *on, int64_t position) {
    int32_t *row_of = on->over.row_of + position;
    if (*row_of) return *row_of - 1;
    int64_t row = on->facts.many++, *const *columns = on->facts.columns;
    *row_of = (int32_t)row + 1;
    columns[PLACE][row] = position;
    columns[AROUND][row] = columns[DEGREE][row] = columns[READING][row] = 0;
    shares_of(&on->facts, LEAST)[row] = INFINITY;
    columns[SINCE][row] = NEVER;
    columns[BEST][row] = NO_LINK;
    shares_of(&on->facts, CARRIED)[row] = 0;
    return row;
}

int64_t ask_nobody(journey *on, int64_t most) {
    on->asked.many = 0;
    return make_room(&on->asked, most);
}

void ask_for(journey *on, int64_t row, double least) {
    int64_t one = on->asked.many++, position = on->facts.columns[PLACE][row];
    on->asked.columns[ROW][one] = row;
    on->asked.columns[POSITION][one] = position;
    on->asked.columns[KEY][one] = on->over.keys[position];
    shares_of(&on->facts, LEAST)[row] = least;
}

INLINED int is_ahead(const journey *on, const double *values, int64_t one, int64_t other) {
    if (values && values[one] != values[other]) return values[one] > values[other];
    const int64_t *places = on->facts.columns[PLACE], width = on->over.width;
    return memcmp(on->over.ids + places[one] * width, on->over.ids + places[other] * width, (size_t)width) < 0;
}

/* Merge sort, from pairs upwards. */
static void merge_rows(const journey *on, int64_t *rows, int64_t many, const double *values, int64_t *room) {
    if (many < 2) return;
    int64_t half = many / 2;
    merge_rows(on, rows, half, values, room);
    merge_rows(on, rows + half, many - half, values, room);
    if (!is_ahead(on, values, rows[half], rows[half - 1])) return;
    memcpy(room, rows, (size_t)half * sizeof *rows);
    for (int64_t left = 0, right = half, at = 0; left < half; at++)
        rows[at] = right < many && is_ahead(on, values, rows[right], room[left]) ? rows[right++] : room[left++];
}

int64_t put_by_strength(const journey *on, int64_t *rows, int64_t many, const double *values) {
    int64_t *room = malloc((size_t)(many / 2 + 1) * sizeof *room);
    if (!room) return NO_ROOM;
    merge_rows(on, rows, many, values, room);
    free(room);
    return 0;
}

/* The rows of facts that links lead to, from the `first` on. How many neighbours those have who were not asked for is told where links
   of all kinds are wanted. */
static void number_rows(journey *on, int64_t first) {
    int64_t *target = on->links.columns[TARGET], *const *facts = on->facts.columns;
    for (int64_t link = first; link < on->links.many; link++) {
        target[link] = meet_position(on, target[link]);
        if (!on->over.by->kinds && facts[READING][target[link]] != on->readings)
            facts[AROUND][target[link]] = on->links.columns[NEIGHBOURS][link];
    }
}

/* The links of each fact as wires, in the order of rows: so are sums made, wherever links stand. How many, or that there is no room. */
static int64_t wire_by_row(const journey *on, const reading *read, const wires *to) {
    int64_t rows = on->facts.many, found = 0, *starts = malloc(2 * (size_t)(rows + 1) * sizeof *starts), *seen = starts + rows;
    if (!starts) return NO_ROOM;
    for (int64_t row = 0; row < rows; row++) starts[row] = -1, seen[row] = 0;
    for (int64_t link = read->links - 1; link >= 0; link--) starts[read->source[link]] = link;
    for (int64_t row = 0, last; row < rows && found >= 0; row++) {
        int64_t from = starts[row];
        if (from < 0) continue;
        for (last = from; last < read->links && read->source[last] == row;) last++;
        reading mine = *read;
        mine.source += from, mine.target += from, mine.weight += from, mine.first += from;
        if (mine.other) mine.other += from;
        mine.links = last - from;
        wires here = {to->source + found, to->target + found, to->strongest + found, to->conductance + found, 0};
        int64_t many = wire_fact(&mine, seen, &here);
        found = many < 0 ? many : found + many;
    }
    free(starts);
    return found;
}

/* The newest links as wires, after those there are. Each dynamics has its own way, under the same number. */
static int64_t wire_from(journey *on, int64_t first) {
    int64_t many = on->links.many - first, *const *in = on->wired.columns, at = on->wired.many;
    if (make_room(&on->wired, many)) return NO_ROOM;
    const double *sure = on->by.dynamics == DIFFUSION ? shares_of(&on->links, CONFIDENCE) + first : 0;
    reading read = {0, on->links.columns[SOURCE] + first, on->links.columns[TARGET] + first, on->facts.columns[DEGREE], 0,
                    shares_of(&on->links, WEIGHT) + first, sure, 0, 0, 0, many, first, on->by.dynamics};
    wires later = {in[FROM] + at, in[TO] + at, in[STRONGEST] + at, shares_of(&on->wired, CONDUCTANCE) + at, 0};
    int64_t found = on->by.dynamics == ENERGY ? wire_reading(&read, 0, &later) : wire_by_row(on, &read, &later);
    if (found < 0) return found;
    on->wired.many += found;
    return 0;
}

int64_t read_asked(journey *on, const newer *late) {
    int64_t *const *of = on->asked.columns, *const *in = on->links.columns, many = on->asked.many, first = on->links.many;
    int64_t space = links_at_most(on->over.in, of[KEY], many, on->over.by->most) + late->many;
    if (make_room(&on->links, space) || make_room(&on->facts, space)) return NO_ROOM;
    on->readings++;
    for (int64_t one = 0; one < many; one++) on->facts.columns[READING][of[ROW][one]] = on->readings;
    asked from = {of[KEY], of[POSITION], of[ROW], on->by.dynamics == ENERGY ? shares_of(&on->facts, LEAST) : 0, many, 0};
    expansion to = {in[SOURCE], in[TARGET], in[CODE], in[AT], 0, in[NEIGHBOURS], shares_of(&on->links, WEIGHT),
                    shares_of(&on->links, CONFIDENCE), on->facts.columns[DEGREE], 0, on->over.marks, first};
    if (read_links(on->over.in, on->over.by, &from, late, space, &to)) return NO_ROOM;
    on->links.many = to.links;
    number_rows(on, first);
    return wire_from(on, first);
}

int64_t record_round(journey *on, const double *active, const uint8_t *silenced) {
    int64_t rows = on->facts.many;
    if (make_room(&on->records, rows)) return NO_ROOM;
    memcpy(shares_of(&on->records, ACTIVE) + on->records.many, active, (size_t)rows * sizeof *active);
    for (int64_t row = 0; row < rows; row++) on->records.columns[SILENCED][on->records.many + row] = silenced[row];
    on->records.many += rows;
    on->ends[on->depth] = on->records.many;
    return 0;
}

int64_t settle_on(journey *on, const double *values) {
    if (make_room(&on->found, on->facts.many)) return NO_ROOM;
    int64_t *rows = on->found.columns[FOUND_ROW], many = 0;
    for (int64_t row = 0; row < on->facts.many; row++) if (values[row] > 0) rows[many++] = row;
    if (put_by_strength(on, rows, many, values)) return NO_ROOM;
    for (int64_t at = 0; at < many; at++) shares_of(&on->found, FOUND_VALUE)[at] = values[rows[at]];
    on->found.many = many;
    on->ended = 1;
    return 0;
}
