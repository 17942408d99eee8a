/* Wires: what conducts from row to row, shared by terrain.c, which makes them of links, and
   spreading.c and onward.c, which go along them. */

#ifndef COFIRE_WIRES_H
#define COFIRE_WIRES_H

#include <stdint.h>

/* What a link without a weight counts, as in dynamics/conductance.py. */
#define MISSING_WEIGHT 0.01

/* `strongest` is the link that carries most of a wire. */
typedef struct {
    int64_t *source, *target, *strongest;
    double *conductance;
    int64_t many;
} wires;

/* How links become wires: as SYNAPSE has it, merged and shared among neighbours; as diffusion, merged and trusted; as energy, each by
   itself, by the likeness of tags and shared by the root of the degree. */
enum { SHARED, TRUSTED, ALONE };

/* What was read: the places of facts, first of those asked for; links between them, by their rows here; `degree` of those asked for,
   `around` of others, null where nobody told; `other` is confidence or likeness, null where it does not count; `needs` what links had
   to conduct, null for nothing. `first` is the number of the first link. */
typedef struct {
    const int64_t *places, *source, *target, *degree, *around;
    const double *weight, *other, *needs;
    int64_t asked, ids, links, first, way;
} reading;

/* What was read as wires, by the rows that those here are in a terrain, null where they are the same. How many, or that there is no
   room. */
int64_t wire_reading(const reading *in, const int64_t *rows, const wires *to);

/* The links of one fact as wires between rows, in no order: what few of them are parallel is put in order by itself. `seen` has a number
   for each row, which is of no later link. */
int64_t wire_fact(const reading *in, int64_t *seen, const wires *to);

#endif
