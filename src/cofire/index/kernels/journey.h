/* Journey: a spread on its way over stored links, from the first facts until it ends. What it has met grows as it goes: journey.c reads
   links and puts rows in order, onward.c says whose links are read next. */

#ifndef COFIRE_JOURNEY_H
#define COFIRE_JOURNEY_H

#include "links.h"
#include "spreading.h"

/* Columns of numbers, eight bytes each, of which more is made room for when need be. */
#define MOST_COLUMNS 8
typedef struct {
    int64_t *columns[MOST_COLUMNS];
    int64_t width, many, room;
} table;

/* By row: where a fact stands, how many neighbours it is known to have and has, what links had to conduct that were read, in which
   reading its own were; since when it is active, the best link to it and what that carried. */
enum { PLACE, AROUND, DEGREE, LEAST, READING, SINCE, BEST, CARRIED };
/* Links as an `expansion` has them, between rows. */
enum { SOURCE, TARGET, CODE, AT, NEIGHBOURS, WEIGHT, CONFIDENCE };
/* Wires: as `wires` has them. */
enum { FROM, TO, STRONGEST, CONDUCTANCE };
/* What is told of a round: how active rows were, and who was silenced or kept out; of a depth: what was claimed, as `claims` has it. */
enum { ACTIVE, SILENCED };
enum { PARENT, WIRE, CHILD, SEED, LINK, PASSED };
/* Whose links are read next: key, position and row. */
enum { KEY, POSITION, ROW };
/* What is active at the end, the strongest first. */
enum { FOUND_ROW, FOUND_VALUE };

/* Which dynamics it is; as in kernels/onward.py. */
enum { SYNAPSE, DIFFUSION, ENERGY };

/* Its rule: so many rounds, hops or depths; what SYNAPSE needs; `decay`, how many are `expanded`, `damping` and `iterations` of
   diffusion; `least` energy that is passed on, to so many `branches`. */
typedef struct {
    int64_t dynamics, depths;
    synapse_rule synapse;
    double decay, damping, least;
    int64_t expanded, iterations, branches;
} manner;

/* All that a store holds: its links, which of them are wanted, keys and ids of so many facts by position; and room that is zero between
   journeys. */
typedef struct {
    const adjacency *in;
    const sieve *by;
    const int64_t *keys;
    const char *ids;
    int64_t width, facts;
    int32_t *row_of;
    uint8_t *marks;
} country;

/* How many there are of each, for whoever makes room for what is told; and while it goes on the keys of those asked for. */
typedef struct {
    int64_t facts, links, found, told, depths, asked;
    const int64_t *keys;
} outline;

typedef struct {
    outline told;
    country over;
    manner by;
    int64_t seeds, depth, readings, ended;
    table facts, links, wired, records, asked, found;
    int64_t *ends;
    double *active, *frontier, *trails;
    uint8_t *kept, *visited;
    int64_t known;
} journey;

INLINED double *shares_of(const table *in, int64_t column) { return (double *)(void *)in->columns[column]; }

INLINED wires wires_of(const journey *on) {
    int64_t *const *in = on->wired.columns;
    return (wires){in[FROM], in[TO], in[STRONGEST], shares_of(&on->wired, CONDUCTANCE), on->wired.many};
}

INLINED words words_of(const journey *on) { return (words){on->over.ids, on->over.width, on->facts.columns[PLACE]}; }

/* Room for so many more rows; 0, or NO_ROOM. */
int64_t make_room(table *in, int64_t more);

/* The row of a position, which is met now or was before. There is room for it. */
int64_t meet_position(journey *on, int64_t position);

/* Nobody is asked for as yet; then each row once. */
int64_t ask_nobody(journey *on, int64_t most);
void ask_for(journey *on, int64_t row, double least);

/* Puts rows in order: by their values, the highest first, and of equals by id. Without values by id alone. */
int64_t put_by_strength(const journey *on, int64_t *rows, int64_t many, const double *values);

/* Reads the links of all who are asked for, with newer ones; 0, or NO_ROOM. */
int64_t read_asked(journey *on, const newer *late);

/* Tells a round: how active rows are, and who was silenced. */
int64_t record_round(journey *on, const double *active, const uint8_t *silenced);

/* What is active at the end: rows with any of these values. */
int64_t settle_on(journey *on, const double *values);

#endif
