/* Roster: facts that were met, a row each in that order, by where they stand. The twin of `MetInPython` in verbs/roster.py. */

#ifndef COFIRE_ROSTER_H
#define COFIRE_ROSTER_H

#include "kernels.h"

/* `slots` are 2^bits, of which more than half are empty: a row and 1, or 0. There is room for all places that may come. */
typedef struct {
    int64_t *places;
    int32_t *slots;
    int64_t bits, many;
} roster;

/* Knuth's way to spread numbers: the golden ratio of all there are. */
INLINED uint64_t slot_of(int64_t place, int64_t bits) { return (uint64_t)place * 0x9E3779B97F4A7C15u >> (64 - bits); }

/* The rows of places; one that was not met before gets the next. */
static void meet_all(roster *known, const int64_t *places, int64_t many, int64_t *rows) {
    uint64_t last = ((uint64_t)1 << known->bits) - 1;
    for (int64_t at = 0; at < many; at++) {
        uint64_t slot = slot_of(places[at], known->bits);
        while (known->slots[slot] && known->places[known->slots[slot] - 1] != places[at]) slot = (slot + 1) & last;
        if (!known->slots[slot]) {
            known->places[known->many] = places[at];
            known->slots[slot] = (int32_t)++known->many;
        }
        rows[at] = known->slots[slot] - 1;
    }
}

#endif
