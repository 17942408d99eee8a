/* Vectors: how alike a question and facts are, alone and with the turns around them. The twin of dynamics/likeness.py and of
   mixed_cosines in dynamics/context.py. Rows of a table are looked at where they lie. */

#include "weighing.h"

/* Sums that a processor keeps side by side. */
#define LANES 16
/* Of what is shorter nothing is told (likeness.NO_LENGTH). */
#define NO_LENGTH 1e-6f

/* The products of one row with the question, the resting point, the question as it is, and itself. */
typedef struct {
    float asked, mean, plain, self;
} products;

INLINED float summed(const float *lanes) {
    float total = 0;
    for (int lane = 0; lane < LANES; lane++) total += lanes[lane];
    return total;
}

/* `plain` may be left out, and so may `mean`, with the product of the row with itself. */
INLINED products multiplied(const float *row, const float *asked, const float *mean, const float *plain, int64_t dimension) {
    float by_asked[LANES] = {0}, by_mean[LANES] = {0}, by_plain[LANES] = {0}, by_self[LANES] = {0};
    for (int64_t at = 0; at < dimension; at++) {
        float number = row[at];
        int lane = at % LANES;
        by_asked[lane] += number * asked[at];
        if (plain) by_plain[lane] += number * plain[at];
        if (!mean) continue;
        by_mean[lane] += number * mean[at];
        by_self[lane] += number * number;
    }
    products found = {summed(by_asked), summed(by_mean), summed(by_plain), summed(by_self)};
    return found;
}

INLINED float square_of(const float *row, int64_t dimension) {
    float by_self[LANES] = {0};
    int64_t at = 0;
    for (; at + LANES <= dimension; at += LANES)
        for (int lane = 0; lane < LANES; lane++) by_self[lane] += row[at + lane] * row[at + lane];
    for (int lane = 0; at < dimension; at++, lane++) by_self[lane] += row[at] * row[at];
    return summed(by_self);
}

/* Half precision as single, number by number: a half has 5 bits of exponent and 10 of fraction; shifted by 13 they are those of a
   single 2¹¹² times too small (likeness.wide). */
static void widened_by_bits(const uint16_t *halves, int64_t dimension, float *wide) {
    for (int64_t at = 0; at < dimension; at++) {
        int32_t bits = (int32_t)((uint32_t)(int32_t)(int16_t)halves[at] << 13) & (int32_t)0x8fffe000;
        float number;
        memcpy(&number, &bits, sizeof number);
        wide[at] = number * 0x1p112f;
    }
}

#if HAS_VARIANTS
FOR_PRODUCTS static void widened_by_conversion(const uint16_t *halves, int64_t dimension, float *wide) {
    int64_t at = 0;
    for (; at + 8 <= dimension; at += 8)
        _mm256_storeu_ps(wide + at, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(halves + at))));
    widened_by_bits(halves + at, dimension - at, wide + at);
}
#endif

#if HAS_VARIANTS
/* Eight numbers of a row, at single or half precision. */
#define EIGHT(row, at, is_half)                                                                                               \
    ((is_half) ? _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)((const uint16_t *)(row) + (at))))                          \
               : _mm256_loadu_ps((const float *)(row) + (at)))

FOR_PRODUCTS INLINED float summed_eight(__m256 lanes) {
    float each[8], total = 0;
    _mm256_storeu_ps(each, lanes);
    for (int lane = 0; lane < 8; lane++) total += each[lane];
    return total;
}

/* The same as `multiplied`, eight numbers at a time and two times eight side by side, where the dimension allows it. */
#define TOGETHER 16

FOR_PRODUCTS INLINED products multiplied_by_eight(const void *row, int is_half, const float *asked, const float *mean,
                                                        const float *plain, int64_t dimension) {
    __m256 by_asked[2], by_mean[2], by_plain[2], by_self[2];
    for (int side = 0; side < 2; side++)
        by_asked[side] = by_mean[side] = by_plain[side] = by_self[side] = _mm256_setzero_ps();
    for (int64_t first = 0; first < dimension; first += TOGETHER)
        for (int side = 0; side < 2; side++) {
            int64_t at = first + 8 * side;
            __m256 numbers = EIGHT(row, at, is_half);
            by_asked[side] = _mm256_fmadd_ps(numbers, _mm256_loadu_ps(asked + at), by_asked[side]);
            if (plain) by_plain[side] = _mm256_fmadd_ps(numbers, _mm256_loadu_ps(plain + at), by_plain[side]);
            if (!mean) continue;
            by_mean[side] = _mm256_fmadd_ps(numbers, _mm256_loadu_ps(mean + at), by_mean[side]);
            by_self[side] = _mm256_fmadd_ps(numbers, numbers, by_self[side]);
        }
    products found = {
        summed_eight(_mm256_add_ps(by_asked[0], by_asked[1])),
        summed_eight(_mm256_add_ps(by_mean[0], by_mean[1])),
        summed_eight(_mm256_add_ps(by_plain[0], by_plain[1])),
        summed_eight(_mm256_add_ps(by_self[0], by_self[1])),
    };
    return found;
}
#endif

typedef void widening(const uint16_t *halves, int64_t dimension, float *wide);

/* Vectors of some facts: rows of a table at single precision, or at half if `widened` tells how to read those. `known` has for every
   row of the table its products with the resting point and with itself, if they were measured before. */
typedef struct {
    const void *table;
    const int64_t *at;
    int64_t dimension;
    widening *widened;
    const float *known;
} rows_of;

/* The products of a row, with those that were measured before. */
INLINED products with_known(products one, const rows_of *of, int64_t row) {
    if (!of->known) return one;
    one.mean = of->known[2 * of->at[row]];
    one.self = of->known[2 * of->at[row] + 1];
    return one;
}

/* One row at single precision, in `room` if it has to be made. */
INLINED const float *row_at(const rows_of *of, int64_t row, float *room) {
    int64_t first = of->at[row] * of->dimension;
    if (!of->widened) return (const float *)of->table + first;
    of->widened((const uint16_t *)of->table + first, of->dimension, room);
    return room;
}

/* Rows lie anywhere in memory: those that come next are fetched while one is looked at. */
#define AHEAD 4
#define LINE 64

INLINED void fetch(const rows_of *of, int64_t row) {
    int64_t width = of->dimension * (of->widened ? 2 : 4);
    const char *first = (const char *)of->table + of->at[row] * width;
    for (int64_t at = 0; at < width; at += LINE) __builtin_prefetch(first + at);
}

/* What the vectors of one question are measured with: the axes, a row each, two of their products, and room for two rows. */
typedef struct {
    const float *asked, *mean, *plain;
    int64_t dimension;
    float asked_on_mean, mean_on_mean;
    float *room, *sum;
} gauge;

/* Of one row: the cosine as seen from the resting point, (v·a − m·a) / |v − m|, the distance from it, and the product as it is. */
INLINED void keep(products one, const gauge *by, int64_t row, int is_there, double *cosines, float *distances, double *plain) {
    float squared = one.self - 2 * one.mean + by->mean_on_mean, away = is_there ? sqrtf(squared > 0 ? squared : 0) : 0;
    cosines[row] = away > NO_LENGTH ? (double)(one.asked - by->asked_on_mean) / away : 0;
    if (distances) distances[row] = away;
    if (plain) plain[row] = one.plain;
}

static void measure_anywhere(const rows_of *of, const uint8_t *embedded, int64_t rows, const gauge *by, double *cosines,
                             float *distances, double *plain) {
    const float *mean = of->known ? 0 : by->mean;
    for (int64_t row = 0; row < rows; row++) {
        if (row + AHEAD < rows) fetch(of, row + AHEAD);
        products one = multiplied(row_at(of, row, by->room), by->asked, mean, plain ? by->plain : 0, by->dimension);
        keep(with_known(one, of, row), by, row, !embedded || embedded[row], cosines, distances, plain);
    }
}

#if HAS_VARIANTS
/* All rows of one kind of table, by which of the products are wanted: each is a loop of its own. */
FOR_PRODUCTS INLINED void measure_kind(const rows_of *of, const uint8_t *embedded, int64_t rows, const gauge *by, double *cosines,
                                       float *distances, double *plain, int is_half, const float *mean, const float *as_it_is) {
    for (int64_t row = 0; row < rows; row++) {
        if (row + AHEAD < rows) fetch(of, row + AHEAD);
        const char *first = (const char *)of->table + of->at[row] * by->dimension * (is_half ? 2 : 4);
        products one = multiplied_by_eight(first, is_half, by->asked, mean, as_it_is, by->dimension);
        keep(with_known(one, of, row), by, row, !embedded || embedded[row], cosines, distances, plain);
    }
}

FOR_PRODUCTS static void measure_fused(const rows_of *of, const uint8_t *embedded, int64_t rows, const gauge *by,
                                       double *cosines, float *distances, double *plain) {
    if (by->dimension % TOGETHER) measure_anywhere(of, embedded, rows, by, cosines, distances, plain);
    else if (!of->widened)
        measure_kind(of, embedded, rows, by, cosines, distances, plain, 0, of->known ? 0 : by->mean, plain ? by->plain : 0);
    else if (of->known && plain) measure_kind(of, embedded, rows, by, cosines, distances, plain, 1, 0, by->plain);
    else if (of->known) measure_kind(of, embedded, rows, by, cosines, distances, plain, 1, 0, 0);
    else measure_kind(of, embedded, rows, by, cosines, distances, plain, 1, by->mean, plain ? by->plain : 0);
}
#endif

/* Σ wₜcₜ / |Σ wₜuₜ| over a fact and the turns around it, u being vectors as seen from the resting point at length one. */
INLINED double mixed(const rows_of *of, const gauge *by, int64_t own, const int32_t *turns, const double *weights,
                     int64_t many, double opened, const double *cosines, const float *distances) {
    double towards = cosines[own];
    float shares = distances[own] > NO_LENGTH ? 1 / distances[own] : 0, *sum = by->sum;
    const float *row = row_at(of, own, by->room);
    for (int64_t place = 0; place < by->dimension; place++) sum[place] = shares * row[place];
    for (int64_t turn = 0; turn < many; turn++) {
        int32_t other = turns[turn];
        if (other < 0) continue;
        double weight = opened * weights[turn];
        float share = distances[other] > NO_LENGTH ? (float)(weight / distances[other]) : 0;
        row = row_at(of, other, by->room);
        for (int64_t place = 0; place < by->dimension; place++) sum[place] += share * row[place];
        towards += weight * cosines[other];
        shares += share;
    }
    for (int64_t place = 0; place < by->dimension; place++) sum[place] -= shares * by->mean[place];
    float length = sqrtf(square_of(sum, by->dimension));
    return length > NO_LENGTH ? towards / length : 0;
}

/* Whether a fact has turns around it. */
INLINED int has_turns(const surroundings *around, int64_t fact) {
    int any = 0;
    for (int64_t turn = 0; turn < around->many; turn++) any |= around->turns[fact * around->many + turn] >= 0;
    return any;
}

INLINED void mix(const rows_of *of, const gauge *by, int64_t facts, const surroundings *around, const double *cosines,
                 const float *distances, double *found) {
    for (int64_t fact = 0; fact < facts; fact++) {
        found[fact] = cosines[fact];
        if (!has_turns(around, fact)) continue;
        double opened = openness(around->lengths[fact], around->short_);
        found[fact] = mixed(of, by, fact, around->turns + fact * around->many, around->weights, around->many, opened,
                            cosines, distances);
    }
}

static void mix_anywhere(const rows_of *of, const gauge *by, int64_t facts, const surroundings *around, const double *cosines,
                         const float *distances, double *found) {
    mix(of, by, facts, around, cosines, distances, found);
}

#if HAS_VARIANTS
/* Numbers of a vector that are mixed at once, an eighth as many registers full, and rows that are. */
#define MIXED 64
#define MOST_MIXED 16

/* What a fact and the turns around it count in their mix: rows of the table, and what each is multiplied with. */
typedef struct {
    const void *rows[MOST_MIXED];
    float shares[MOST_MIXED];
    int64_t many;
} mixture;

/* |Σ share · row − mean · Σ shares|², so many numbers at a time: all that is added up stays where it is added. */
FOR_PRODUCTS INLINED float square_of_mix(const mixture *of, int is_half, const float *mean, float whole, int64_t dimension) {
    __m256 squares = _mm256_setzero_ps();
    for (int64_t first = 0; first < dimension; first += MIXED) {
        __m256 sum[MIXED / 8], less = _mm256_set1_ps(-whole);
        for (int part = 0; part < MIXED / 8; part++) sum[part] = _mm256_mul_ps(less, _mm256_loadu_ps(mean + first + 8 * part));
        for (int64_t one = 0; one < of->many; one++) {
            __m256 share = _mm256_set1_ps(of->shares[one]);
            for (int part = 0; part < MIXED / 8; part++)
                sum[part] = _mm256_fmadd_ps(share, EIGHT(of->rows[one], first + 8 * part, is_half), sum[part]);
        }
        for (int part = 0; part < MIXED / 8; part++) squares = _mm256_fmadd_ps(sum[part], sum[part], squares);
    }
    return summed_eight(squares);
}

/* The same as `mixed`. */
FOR_PRODUCTS INLINED double mixed_in_registers(const rows_of *of, const gauge *by, int64_t own, const int32_t *turns,
                                               const double *weights, int64_t many, double opened, const double *cosines,
                                               const float *distances) {
    mixture mix = {.many = 0};
    int64_t width = by->dimension * (of->widened ? 2 : 4);
    double towards = 0;
    float whole = 0;
    for (int64_t turn = -1; turn < many; turn++) {
        int64_t row = turn < 0 ? own : turns[turn];
        if (row < 0) continue;
        double weight = turn < 0 ? 1 : opened * weights[turn];
        float share = distances[row] > NO_LENGTH ? (float)(weight / distances[row]) : 0;
        towards += weight * cosines[row];
        whole += share;
        mix.rows[mix.many] = (const char *)of->table + of->at[row] * width;
        mix.shares[mix.many++] = share;
    }
    float square = of->widened ? square_of_mix(&mix, 1, by->mean, whole, by->dimension)
                               : square_of_mix(&mix, 0, by->mean, whole, by->dimension);
    float length = sqrtf(square);
    return length > NO_LENGTH ? towards / length : 0;
}

FOR_PRODUCTS static void mix_fused(const rows_of *of, const gauge *by, int64_t facts, const surroundings *around,
                                   const double *cosines, const float *distances, double *found) {
    if (by->dimension % MIXED || around->many >= MOST_MIXED) {
        mix(of, by, facts, around, cosines, distances, found);
        return;
    }
    for (int64_t fact = 0; fact < facts; fact++) {
        found[fact] = cosines[fact];
        if (!has_turns(around, fact)) continue;
        double opened = openness(around->lengths[fact], around->short_);
        found[fact] = mixed_in_registers(of, by, fact, around->turns + fact * around->many, around->weights, around->many,
                                         opened, cosines, distances);
    }
}
#endif

/* The products of one row with the resting point and with itself, in the very way in which they are measured with a question. */
static products products_anywhere(const rows_of *of, const float *mean, float *room) {
    return multiplied(row_at(of, 0, room), mean, mean, 0, of->dimension);
}

#if HAS_VARIANTS
FOR_PRODUCTS static products products_fused(const rows_of *of, const float *mean, float *room) {
    if (of->dimension % TOGETHER) return products_anywhere(of, mean, room);
    const char *first = (const char *)of->table + of->at[0] * of->dimension * (of->widened ? 2 : 4);
    return multiplied_by_eight(first, of->widened != 0, mean, mean, 0, of->dimension);
}
#endif

/* The functions for the processor at hand. */
typedef struct {
    products (*products)(const rows_of *, const float *, float *);
    void (*measure)(const rows_of *, const uint8_t *, int64_t, const gauge *, double *, float *, double *);
    void (*mix)(const rows_of *, const gauge *, int64_t, const surroundings *, const double *, const float *, double *);
    widening *widened;
} variant;

static variant variant_here(void) {
#if HAS_VARIANTS
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) {
        variant fused = {products_fused, measure_fused, mix_fused, widened_by_conversion};
        return fused;
    }
#endif
    variant anywhere = {products_anywhere, measure_anywhere, mix_anywhere, widened_by_bits};
    return anywhere;
}

/* `axes` has three rows: the question as seen from the resting point, that point, and the question as it is. `room` is for two. */
static gauge gauge_of(const float *axes, int64_t dimension, float *room) {
    const float *asked = axes, *mean = axes + dimension, *plain = axes + 2 * dimension;
    products one = multiplied(mean, asked, mean, 0, dimension);
    gauge by = {asked, mean, plain, dimension, one.asked, one.self, room, room + dimension};
    return by;
}

/* Whether all rows stand in a table of this size. */
static int are_there(const int64_t *at, int64_t rows, int64_t size) {
    for (int64_t row = 0; row < rows; row++)
        if (at[row] < 0 || at[row] >= size) return 0;
    return 1;
}

/* What `rows_of` knows of the rows of a table from `first` to `end`: two numbers each. */
EXPORTED int64_t measure_rows(const void *table, int64_t is_half, int64_t dimension, int64_t first, int64_t end,
                              const float *mean, float *known) {
    float *room = malloc((size_t)(2 * dimension + 1) * sizeof *room);
    if (!room) return NO_ROOM;
    variant here = variant_here();
    for (int64_t row = first; row < end; row++) {
        rows_of one = {table, &row, dimension, is_half ? here.widened : 0, 0};
        products found = here.products(&one, mean, room);
        known[2 * row] = found.mean;
        known[2 * row + 1] = found.self;
    }
    free(room);
    return end - first;
}

/* Centred cosines of rows of a table of `size` rows: likeness.centred_cosines. */
EXPORTED int64_t cosines_at(const void *table, int64_t size, int64_t is_half, int64_t dimension, const float *known,
                            const int64_t *at, int64_t rows, const float *axes, double *cosines) {
    if (!are_there(at, rows, size)) return OUTSIDE;
    float *room = malloc((size_t)(2 * dimension + 1) * sizeof *room);
    if (!room) return NO_ROOM;
    variant here = variant_here();
    rows_of of = {table, at, dimension, is_half ? here.widened : 0, known};
    gauge by = gauge_of(axes, dimension, room);
    here.measure(&of, 0, rows, &by, cosines, 0, 0);
    free(room);
    return rows;
}

/* For facts, which are the first of the rows: cosines with what the turns around each mean, and as the model says. Those without
   turns stand for themselves. */
int64_t cosines_in_context(const vector_table *in, const int64_t *at, const uint8_t *embedded, int64_t rows, int64_t facts,
                           const float *axes, const surroundings *around, double *cosines, double *plain) {
    if (!are_there(at, rows, in->size) || !are_rows(around->turns, facts * around->many, rows)) return OUTSIDE;
    variant here = variant_here();
    double *alone = malloc((size_t)(2 * rows + 1) * sizeof *alone);
    float *away = malloc((size_t)(rows + 2 * in->dimension + 1) * sizeof *away);
    if (!alone || !away) {
        free(alone);
        free(away);
        return NO_ROOM;
    }
    rows_of of = {in->table, at, in->dimension, in->is_half ? here.widened : 0, in->known};
    gauge by = gauge_of(axes, in->dimension, away + rows);
    here.measure(&of, embedded, rows, &by, alone, away, alone + rows);
    memcpy(plain, alone + rows, (size_t)facts * sizeof *plain);
    here.mix(&of, &by, facts, around, alone, away, cosines);
    free(alone);
    free(away);
    return facts;
}
