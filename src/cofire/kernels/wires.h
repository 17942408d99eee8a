/* Wires: what conducts from row to row, shared by links.c, which makes them, and spreading.c, which goes along them. */

#ifndef COFIRE_WIRES_H
#define COFIRE_WIRES_H

#include <stdint.h>

/* `strongest` is the link that carries most of a wire. */
typedef struct {
    int64_t *source, *target, *strongest;
    double *conductance;
    int64_t many;
} wires;

#endif
