/* Wires: what conducts from row to row, shared by terrain.c, which makes them of links, and spreading.c, which goes along them. */

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

#endif
