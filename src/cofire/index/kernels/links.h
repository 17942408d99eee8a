/* Links: how stored ones reach C, shared by links.c, which reads them, and onward.c, which follows them further. */

#ifndef COFIRE_LINKS_H
#define COFIRE_LINKS_H

#include "kernels.h"

/* As in dynamics/conductance.py. */
#define NEARLY (1 - 1e-9)

/* All stored links: those of a fact stand from starts[key] to starts[key + 1], the strongest first. */
typedef struct {
    const int64_t *starts;
    const int32_t *neighbour, *code, *weight, *confidence, *degree;
    const uint8_t *alive;
} adjacency;

/* A link that came after the base: a place among the asked, the key that it leads to, and the number of its tags. */
typedef struct {
    int32_t owner, neighbour, code, weight, confidence, tags;
} half;

/* Which links are wanted: `kinds` tells for each kind by number, null for all. */
typedef struct {
    const int32_t *places;
    const uint8_t *admitted, *kinds;
    int64_t floor, most;
} sieve;

/* Facts to expand: key, position and row of each that is there. `ids` is how many rows there are with those that are not. `least` is
   by row how much a link must conduct to be of use, null where all are. */
typedef struct {
    const int64_t *keys, *positions, *rows;
    const double *least;
    int64_t many, ids;
} asked;

/* Where links are written: the rows they lead from and to, twice their kind, where they stand. `others` are the positions of facts
   that were not asked for, `around` how many neighbours those have; `degree` is by row. `row_of` by position and `marks` by key are zero between calls. */
typedef struct {
    int64_t *source, *target, *code, *at, *others, *around;
    double *weight, *confidence;
    int64_t *degree;
    int32_t *row_of;
    uint8_t *marks;
    int64_t links;
} expansion;

/* Links of the asked that came after the base, in their order; and by what links are put in order: a rank for each kind, contents by
   position. */
typedef struct {
    const half *halves;
    int64_t many;
    const int32_t *ranks;
    const int64_t *contents;
} newer;

/* The strongest links of facts that pass, after those in `to`, and the degrees of these facts; `target` is a position. 0, or that there
   is no room. There is room for so many links. */
int64_t read_links(const adjacency *in, const sieve *by, const asked *of, const newer *late, int64_t space, expansion *to);

/* How many links there may be at most. */
EXPORTED int64_t links_at_most(const adjacency *in, const int64_t *keys, int64_t many, int64_t most);

#endif
