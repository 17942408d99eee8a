/* Spreading: what goes along wires, shared by spreading.c, which does it a hop or a depth at a time, and onward.c, which goes on. */

#ifndef COFIRE_SPREADING_H
#define COFIRE_SPREADING_H

#include "kernels.h"
#include "wires.h"

/* Equals were met whose ids decide, and no ids were given. */
#define TIED (-2)
#define NEVER INT64_MAX
#define NO_LINK (-1)

/* Ids as they are told: one after the other, each ended by a zero; or, where they have a `width`, in a table by place and filled up
   with zeros. */
typedef struct {
    const char *text;
    int64_t width;
    const int64_t *places;
} words;

/* SYNAPSE: what is arriving, what is active then, and whom stronger ones silence. `inhibition` is not a number for the page's way. */
typedef struct {
    double retention, spread, threshold, slope, inhibition;
    int64_t top_m;
} synapse_rule;

/* How far activation has come, by row: since when, the best link and what that carried. */
typedef struct {
    int64_t *since, *link;
    double *carried;
    int64_t rows;
} way;

/* Diffusion, a row a seed. What came before has `known` columns, all others nothing; what comes has `rows`. */
typedef struct {
    const double *frontier, *trails;
    int64_t seeds, known, rows, most;
    double decay;
} flow;

/* Where energy is: whose seed it comes from, on which fact it is, and how much. */
typedef struct {
    const int64_t *seed, *fact;
    const double *energy;
    int64_t many;
} frontier;

/* Who was visited by each of so many seeds, with columns for all rows there are now. */
typedef struct {
    const uint8_t *before;
    int64_t seeds, known, rows;
    uint8_t *after;
} visits;

/* What was claimed: rows of the frontier, along which wires and to whom, for which seed, by which link, and what that gets. */
typedef struct {
    int64_t *parent, *wire, *child, *seed, *link;
    double *passed;
} claims;

EXPORTED int64_t keep_best(const double *values, int64_t rows, int64_t most, const words *told, uint8_t *kept);
EXPORTED int64_t synapse_round(const wires *in, const double *active, int64_t rows, const synapse_rule *by, const words *told,
                               double *arriving, double *following, double *passed, uint8_t *inhibited);
EXPORTED int64_t lead_on(const wires *in, const double *passed, const double *reached, int64_t round, const words *told,
                         const way *known, const way *to);
EXPORTED int64_t diffuse_hop(const wires *in, const flow *of, const words *told, double *arrived, double *trails, double *passed,
                             double *reached, uint8_t *kept_out);
EXPORTED int64_t refine(const wires *in, const uint8_t *kept, const double *found, int64_t rows, double damping,
                        int64_t iterations, double *settled);
EXPORTED int64_t branch(const wires *in, const frontier *from, const visits *visited, double threshold, int64_t branches,
                        const words *told, const claims *to, uint8_t *reason);

#endif
