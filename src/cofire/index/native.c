/* The compiled twins of the functions in native.py: arrays in, arrays out, the same answers.

   Every function returns what it counted, or an error code. Each position and offset is compared with the size of the array that it
   points into before it is followed. */

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Increased whenever a function takes or returns something else: native.py ignores a library of another edition. */
#define EDITION 15

#define OUT_OF_RANGE (-2)

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif
#define INLINED static inline __attribute__((always_inline))

EXPORTED int64_t edition(void) { return EDITION; }

/* Instructions of newer x86 processors. The same body is compiled for them beside the one that runs everywhere, and the choice is made
   at run time. */

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#define FOR_POPCNT __attribute__((target("popcnt")))
#define FOR_WIDE_POPCNT __attribute__((target("popcnt,avx512f,avx512bw,avx512vl,avx512vpopcntdq")))
#define FOR_AVX2 __attribute__((target("avx2,f16c")))

/* Whether the operating system keeps the given parts of the wide registers (XCR0). */
static int keeps_registers(uint32_t parts) {
    uint32_t eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx >> 27 & 1)) return 0;
    __asm__("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
    return (eax & parts) == parts;
}

/* Bits of cpuid: Intel's manual, volume 2A. */
enum { HAS_POPCNT = 1, HAS_AVX2 = 2, HAS_WIDE_POPCNT = 4 };

static int ask_processor(void) {
    uint32_t eax, ebx, ecx, edx, wide_ebx, wide_ecx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return 0;
    int popcnt = ecx >> 23 & 1, f16c = ecx >> 29 & 1, has = popcnt ? HAS_POPCNT : 0;
    if (!__get_cpuid_count(7, 0, &eax, &wide_ebx, &wide_ecx, &edx)) return has;
    int avx2 = wide_ebx >> 5 & 1, vpopcntdq = wide_ecx >> 14 & 1;
    int avx512 = (wide_ebx >> 16 & 1) && (wide_ebx >> 30 & 1) && (wide_ebx >> 31 & 1);
    if (f16c && avx2 && keeps_registers(0x06)) has |= HAS_AVX2;
    if (popcnt && avx512 && vpopcntdq && keeps_registers(0xe6)) has |= HAS_WIDE_POPCNT;
    return has;
}

/* To ask takes long on a virtual machine, so it is done once. */
static int processor_has(int skill) {
    static int known = -1;
    if (known < 0) known = ask_processor();
    return known & skill;
}
#endif

/* Whether a position is that of a fact. */
INLINED int is_fact(int64_t position, int64_t facts) { return position >= 0 && position < facts; }

static int are_rows(const int64_t *rows, int64_t size, int64_t limit) {
    int outside = 0;
    for (int64_t at = 0; at < size; at++) outside |= rows[at] < 0 || rows[at] >= limit;
    return !outside;
}

/* 1. Postings: the best facts by BM25. */

/* A word that more facts hold is only looked up for facts that can still be among the best. */
#define COMMON_WORD 2048
/* A smaller difference between scores decides nothing. */
#define TOLERANCE 2e-6
/* Memory that is read so many steps from now is fetched already. */
#define AHEAD 32
#define TURNS_AHEAD 8

/* Postings of a word: facts that hold it, in order, and how often. Python passes runs as rows of an array: the addresses of both, and
   the size. The runs of a word follow each other, `parts` each. */
typedef struct {
    const int32_t *positions;
    const uint16_t *counts;
    int64_t size;
} run;

/* The words of texts and of descriptions, so many runs a word. */
typedef struct {
    const run *texts;
    int64_t text_parts;
    const run *hints;
    int64_t hint_parts;
} shelf;

INLINED int64_t size_of(const run *runs, int64_t parts) {
    int64_t size = 0;
    for (int64_t part = 0; part < parts; part++) size += runs[part].size;
    return size;
}

/* The index in a run at which a position stands, or would. */
INLINED int64_t index_of(run in, int32_t position) {
    const int32_t *first = in.positions;
    int64_t size = in.size;
    for (; size > 1; size -= size / 2) first += (first[size / 2 - 1] < position) * (size / 2);
    return first - in.positions + (size == 1 && *first < position);
}

/* How often a fact holds the word, 0 if it does not. */
INLINED float count_at(run in, int32_t position) {
    int64_t at = index_of(in, position);
    return at < in.size && in.positions[at] == position ? in.counts[at] : 0;
}

/* The same of several runs, of which the highest count holds. */
INLINED float count_in(const run *runs, int64_t parts, int32_t position) {
    float count = 0;
    for (int64_t part = 0; part < parts; part++) {
        float here = count_at(runs[part], position);
        if (here > count) count = here;
    }
    return count;
}

/* The k-th highest of at least k numbers. Moves the numbers (Hoare's selection). */
static double kth_highest(double *numbers, int64_t size, int64_t k) {
    int64_t low = 0, high = size - 1, place = size - k;
    while (low < high) {
        double pivot = numbers[low + (high - low) / 2];
        int64_t left = low, right = high;
        while (left <= right) {
            while (numbers[left] < pivot) left++;
            while (numbers[right] > pivot) right--;
            if (left <= right) {
                double moved = numbers[left];
                numbers[left++] = numbers[right];
                numbers[right--] = moved;
            }
        }
        if (place <= right) high = right;
        else if (place >= left) low = left;
        else break;
    }
    return numbers[place];
}

/* The constants of BM25, what turns lend, and the facts: how long each is, which are alive, and the turns before and after each. */
typedef struct {
    double hint_weight, always, each, short_;
    const double *lends;
    int64_t reach;
    const int32_t *lengths, *before, *after;
    const uint8_t *alive;
    int64_t facts;
} scoring;

/* A fact that holds a word of the question or is lent one: its score so far, and of the word at hand how often it holds it and what
   others lend it. */
typedef struct {
    double score;
    float own, lent, length;
    int32_t fact;
} holder;

/* All holders in the order in which they are met, so that what is read here and there stays small, and by fact which of them it is, -1
   if it is none; and the holders of the word at hand, or the rivals. */
typedef struct {
    int32_t *index_of;
    holder *holders;
    int64_t many;
    int32_t *met;
    int is_outside;
} tally;

/* k₁(1 − b + b·length/mean) (bm25.length_normalisation) is always + each · length. */
INLINED double gain(const scoring *by, double weight, double count, double length) {
    double whole = count + by->always + by->each * length;
    return weight * count / (whole > 1e-12 ? whole : 1e-12);
}

/* How much a fact borrows from the turns around it: min(1, short / length) (session_context.borrowing_factors). */
INLINED double borrowing(double length, double short_) {
    double words = length > 1 ? length : 1;
    return words > short_ ? short_ / words : 1;
}

/* The index of a fact among the holders; from now on, if it was none. */
INLINED int32_t hold(const scoring *by, tally *to, int32_t fact) {
    if (to->index_of[fact] < 0) {
        holder new = {0, 0, 0, (float)by->lengths[fact], fact};
        to->index_of[fact] = (int32_t)to->many;
        to->holders[to->many++] = new;
    }
    return to->index_of[fact];
}

/* The fact of a posting, or -1 if there is none. Those of postings further on are fetched. */
INLINED int32_t fact_at(run text, int64_t at, const scoring *by, tally *to) {
    if (at + AHEAD < text.size && is_fact(text.positions[at + AHEAD], by->facts)) {
        __builtin_prefetch(to->index_of + text.positions[at + AHEAD]);
        __builtin_prefetch(by->lengths + text.positions[at + AHEAD]);
    }
    if (is_fact(text.positions[at], by->facts)) return text.positions[at];
    to->is_outside = 1;
    return -1;
}

static void add_plain_word(run text, double weight, const scoring *by, tally *to) {
    for (int64_t at = 0; at < text.size; at++) {
        int32_t fact = fact_at(text, at, by, to);
        if (fact < 0) continue;
        holder *of = to->holders + hold(by, to, fact);
        of->score += gain(by, weight, text.counts[at], of->length);
    }
}

/* What each of the facts that hold a word lends to the turns around it. Returns how many hold it or are lent it. */
static int64_t lend_word(int64_t holding, const scoring *by, tally *to) {
    int64_t all = holding;
    for (int64_t at = 0; at < holding; at++) {
        if (at + TURNS_AHEAD < holding) {
            __builtin_prefetch(by->before + to->holders[to->met[at + TURNS_AHEAD]].fact);
            __builtin_prefetch(by->after + to->holders[to->met[at + TURNS_AHEAD]].fact);
        }
        int32_t fact = to->holders[to->met[at]].fact;
        float own = to->holders[to->met[at]].own;
        for (int side = 0; side < 2; side++) {
            const int32_t *next = side ? by->after : by->before;
            int32_t turn = next[fact];
            for (int64_t step = 0; step < by->reach && turn >= 0; step++, turn = next[turn]) {
                if (!is_fact(turn, by->facts)) {
                    to->is_outside = 1;
                    break;
                }
                float share = own * (float)by->lends[side * by->reach + step];
                if (share <= 0) continue;
                int32_t index = hold(by, to, turn);
                holder *taker = to->holders + index;
                if (taker->own == 0 && taker->lent == 0) to->met[all++] = index;
                taker->lent += share;
            }
        }
    }
    return all;
}

/* Facts that hold a word, once each, after those that were met already, and how often: the highest of all counts. Of a word that is
   lent, only those that are alive. */
static int64_t meet(const run *runs, int64_t parts, double weight, int is_lent, const scoring *by, tally *to, int64_t met) {
    for (int64_t part = 0; part < parts; part++)
        for (int64_t at = 0; at < runs[part].size; at++) {
            int32_t fact = fact_at(runs[part], at, by, to);
            if (fact < 0 || (is_lent && !by->alive[fact]) || !runs[part].counts[at]) continue;
            int32_t index = hold(by, to, fact);
            holder *of = to->holders + index;
            if (of->own == 0 && of->lent == 0) to->met[met++] = index;
            float count = (float)(weight * runs[part].counts[at]);
            if (of->lent < count) of->lent = count;
        }
    for (int64_t at = 0; at < met; at++) {
        holder *of = to->holders + to->met[at];
        of->own += of->lent;
        of->lent = 0;
    }
    return met;
}

/* A word that descriptions hold, or that turns lend to those around them. */
static void add_shared_word(const shelf *from, int64_t word, double weight, int is_lent, const scoring *by, tally *to) {
    int64_t met = meet(from->texts + word * from->text_parts, from->text_parts, 1, is_lent, by, to, 0);
    if (by->hint_weight > 0)
        met = meet(from->hints + word * from->hint_parts, from->hint_parts, by->hint_weight, is_lent, by, to, met);
    if (is_lent) met = lend_word(met, by, to);
    for (int64_t at = 0; at < met; at++) {
        holder *of = to->holders + to->met[at];
        double count = of->own;
        if (of->lent > 0) count += of->lent * borrowing(of->length, by->short_);
        of->own = of->lent = 0;
        of->score += gain(by, weight, count, of->length);
    }
}

/* The holders that can still be among the k best, if words that give at most `left` lift no other fact there; else -1. */
static int64_t find_rivals(tally *of, const uint8_t *admitted, int64_t k, double left, double tolerance, double *room) {
    int64_t ahead = 0, many = 0;
    for (int64_t at = 0; at < of->many; at++)
        if (of->holders[at].score > left && admitted[of->holders[at].fact]) room[ahead++] = of->holders[at].score;
    if (ahead < k) return -1;
    double least = kth_highest(room, ahead, k) - tolerance;
    if (least <= left) return -1;
    for (int64_t at = 0; at < of->many; at++)
        if (of->holders[at].score >= least - left && admitted[of->holders[at].fact]) of->met[many++] = (int32_t)at;
    return many;
}

/* The k best facts by BM25 and all that equal the last of them, in any order: their positions and scores, and how many.

   `order` has the words by weight, the heaviest first. A word that is lent also counts for the `reach` turns before and after a fact,
   by `lends`; without `before` there are no turns. `constants`: weight of descriptions, k₁, b, mean length, short, total weight.
   `index_of` is -1 for all facts before and after; `holders` has room for three numbers of 64 bits a fact, the other scratch arrays
   for one. */
EXPORTED int64_t score_postings(const run *texts, int64_t text_parts, const run *hints, int64_t hint_parts, const double *weights,
                                const uint8_t *is_lent, const int64_t *order, int64_t words, const double *constants,
                                const int32_t *lengths, const uint8_t *alive, const uint8_t *admitted, int64_t facts,
                                const int32_t *before, const int32_t *after, const double *lends, int64_t reach, int64_t k,
                                int32_t *index_of, holder *holders, int32_t *met, int64_t *found, double *found_scores) {
    if (!are_rows(order, words, words)) return OUT_OF_RANGE;
    shelf from = {texts, text_parts, hints, hint_parts};
    double k1 = constants[1], b = constants[2], mean_length = constants[3];
    scoring by = {constants[0],
                  mean_length > 0 ? k1 * (1 - b) : k1,
                  mean_length > 0 ? k1 * b / mean_length : 0,
                  constants[4],
                  lends,
                  reach,
                  lengths,
                  before,
                  after,
                  alive,
                  facts};
    tally to = {index_of, holders, 0, met, 0};
    double total = constants[5], left = total;
    int64_t lent_left = 0, rivals = -1;
    for (int64_t word = 0; word < words; word++) lent_left += before && is_lent[word];
    for (int64_t turn = 0; turn < words; turn++) {
        int64_t word = order[turn];
        const run *text = texts + word * text_parts, *hint = hints + word * hint_parts;
        int64_t described = by.hint_weight > 0 ? size_of(hint, hint_parts) : 0;
        int lends_here = before && is_lent[word];
        /* `met` keeps the rivals: from then on no word is lent. */
        if (rivals < 0 && !lent_left && size_of(text, text_parts) + described > COMMON_WORD)
            rivals = find_rivals(&to, admitted, k, left, TOLERANCE * total, found_scores);
        for (int64_t at = 0; at < rivals; at++) {
            holder *of = holders + met[at];
            double count = count_in(text, text_parts, of->fact);
            if (described) count += by.hint_weight * count_in(hint, hint_parts, of->fact);
            of->score += gain(&by, weights[word], count, of->length);
        }
        if (rivals >= 0) continue;
        if (lends_here || described) add_shared_word(&from, word, weights[word], lends_here, &by, &to);
        for (int64_t part = 0; !lends_here && !described && part < text_parts; part++)
            add_plain_word(text[part], weights[word], &by, &to);
        left -= weights[word];
        lent_left -= lends_here;
    }

    int64_t size = rivals < 0 ? to.many : rivals, ahead = 0, count = 0;
    for (int64_t at = 0; at < size; at++) {
        const holder *of = holders + (rivals < 0 ? at : met[at]);
        if (of->score > 0 && admitted[of->fact]) found_scores[ahead++] = of->score;
    }
    double least = ahead > k ? kth_highest(found_scores, ahead, k) - TOLERANCE * total : 0;
    for (int64_t at = 0; at < size; at++) {
        const holder *of = holders + (rivals < 0 ? at : met[at]);
        if (of->score <= 0 || of->score < least || !admitted[of->fact]) continue;
        found[count] = of->fact;
        found_scores[count++] = of->score / total;
    }
    for (int64_t at = 0; at < to.many; at++) index_of[holders[at].fact] = -1;
    return to.is_outside ? OUT_OF_RANGE : count;
}

/* 2. Rows: facts and the turns around them, and how often each holds each word. */

/* In a run of so many times as many facts as there are rows, each row is looked up by itself. */
#define SPARSE 16

/* Add a row for a fact that has none yet. Returns how many there are. */
INLINED int64_t add_row(int32_t fact, int32_t *row_of, int64_t *rows, int64_t many) {
    if (row_of[fact] >= 0) return many;
    row_of[fact] = (int32_t)many;
    rows[many] = fact;
    return many + 1;
}

/* One column of a table of counts, out of one run, if it is above what is there. Of equal rows, a scan fills in the last. */
static int count_word(run text, const int64_t *rows, int64_t many, const int32_t *row_of, int64_t facts, float *column, int64_t width) {
    int is_outside = 0;
    if (text.size > SPARSE * many) {
        for (int64_t row = 0; row < many; row++) {
            float count = count_at(text, (int32_t)rows[row]);
            if (count > column[row * width]) column[row * width] = count;
        }
        return 0;
    }
    for (int64_t at = 0; at < text.size; at++) {
        if (!is_fact(text.positions[at], facts)) {
            is_outside = 1;
            continue;
        }
        int32_t row = row_of[text.positions[at]];
        if (row >= 0 && row < many && column[row * width] < text.counts[at]) column[row * width] = text.counts[at];
    }
    return is_outside;
}

/* Facts, then the `near` turns on either side of each, then all others of the `reach` turns, as rows: the position of each row, and in
   `around` the rows of the turns before each fact, the nearest first, then of those after it. `counts` has a column a word, and so has
   `hint_row_counts` for the facts alone. Returns how many rows there are, and in `first` how many are facts and near turns.

   `row_of` is -1 for all facts before and after; `around` is -1 and the counts are zero before. */
EXPORTED int64_t gather_rows(const int64_t *facts_asked, int64_t asked, const int32_t *before, const int32_t *after, int64_t facts,
                             int64_t reach, int64_t near, const run *texts, int64_t text_parts, const run *hints,
                             int64_t hint_parts, int64_t words, int32_t *row_of, int64_t *rows, int32_t *around,
                             float *row_counts, float *hint_row_counts, int64_t *first) {
    if (!are_rows(facts_asked, asked, facts)) return OUT_OF_RANGE;
    int64_t many = asked;
    int is_outside = 0;
    for (int64_t at = 0; at < asked; at++) {
        rows[at] = facts_asked[at];
        row_of[facts_asked[at]] = (int32_t)at;
    }
    *first = many;
    for (int pass = 0; before && pass < 2; pass++) {
        int64_t steps = pass || near > reach ? reach : near;
        for (int64_t at = 0; at < asked; at++)
            for (int side = 0; side < 2; side++) {
                const int32_t *next = side ? after : before;
                int32_t turn = next[facts_asked[at]];
                for (int64_t step = 0; step < steps && turn >= 0; step++, turn = next[turn]) {
                    if (!is_fact(turn, facts)) {
                        is_outside = 1;
                        break;
                    }
                    many = add_row(turn, row_of, rows, many);
                    around[(2 * at + side) * reach + step] = row_of[turn];
                }
            }
        if (!pass) *first = many;
    }
    for (int64_t word = 0; word < words; word++) {
        for (int64_t part = 0; part < text_parts; part++)
            is_outside |= count_word(texts[word * text_parts + part], rows, many, row_of, facts, row_counts + word, words);
        for (int64_t part = 0; part < hint_parts; part++)
            is_outside |= count_word(hints[word * hint_parts + part], rows, asked, row_of, facts, hint_row_counts + word, words);
    }
    for (int64_t at = 0; at < asked; at++) {
        int64_t last = row_of[rows[at]];
        memmove(row_counts + at * words, row_counts + last * words, (size_t)words * sizeof *row_counts);
        memmove(hint_row_counts + at * words, hint_row_counts + last * words, (size_t)words * sizeof *hint_row_counts);
    }
    for (int64_t row = 0; row < many; row++) row_of[rows[row]] = -1;
    return is_outside ? OUT_OF_RANGE : many;
}

/* 3. Sign bits: in how many signs vectors differ. */

/* So many columns at a time stay in the nearest cache. */
#define COLUMNS 2048

INLINED void count_signs(const uint64_t *bits, int64_t stride, int64_t words, int64_t size, const uint64_t *asked,
                         uint16_t *distances) {
    uint64_t totals[COLUMNS];
    for (int64_t first = 0; first < size; first += COLUMNS) {
        int64_t many = size - first < COLUMNS ? size - first : COLUMNS;
        memset(totals, 0, sizeof totals);
        for (int64_t word = 0; word < words; word++) {
            const uint64_t *row = bits + word * stride + first;
            for (int64_t at = 0; at < many; at++) totals[at] += (uint64_t)__builtin_popcountll(row[at] ^ asked[word]);
        }
        for (int64_t at = 0; at < many; at++) distances[first + at] = (uint16_t)totals[at];
    }
}

static void count_signs_anywhere(const uint64_t *bits, int64_t stride, int64_t words, int64_t size, const uint64_t *asked,
                                 uint16_t *distances) {
    count_signs(bits, stride, words, size, asked, distances);
}

#if defined(__x86_64__)
FOR_POPCNT static void count_signs_popcnt(const uint64_t *bits, int64_t stride, int64_t words, int64_t size,
                                          const uint64_t *asked, uint16_t *distances) {
    count_signs(bits, stride, words, size, asked, distances);
}

FOR_WIDE_POPCNT static void count_signs_wide(const uint64_t *bits, int64_t stride, int64_t words, int64_t size,
                                             const uint64_t *asked, uint16_t *distances) {
    count_signs(bits, stride, words, size, asked, distances);
}
#endif

/* In how many signs each column differs from the asked ones. `bits` has a row of `stride` words for each word of 64 signs, of which
   the first `size` are in use. */
EXPORTED int64_t count_differing_signs(const uint64_t *bits, int64_t stride, int64_t words, int64_t size, const uint64_t *asked,
                                       uint16_t *distances) {
    if (size > stride || words > 1023) return OUT_OF_RANGE;
#if defined(__x86_64__)
    if (processor_has(HAS_WIDE_POPCNT)) count_signs_wide(bits, stride, words, size, asked, distances);
    else if (processor_has(HAS_POPCNT)) count_signs_popcnt(bits, stride, words, size, asked, distances);
    else
#endif
        count_signs_anywhere(bits, stride, words, size, asked, distances);
    return size;
}

/* 4. Vectors: cosines of facts with a question, alone and with the turns around them. */

/* A shorter vector has no direction (vector_similarity.MIN_VECTOR_LENGTH). */
#define MIN_LENGTH 1e-6f
/* Sums that a processor keeps side by side. */
#define LANES 8

/* Half precision as single: a half has 5 bits of exponent and 10 of fraction. Shifted by 13 they are those of a single 2¹¹² times too
   small (vector_similarity.widen_half_floats). */
static void widen_anywhere(const uint16_t *halves, int64_t size, float *wide) {
    for (int64_t at = 0; at < size; at++) {
        int32_t bits = (int32_t)((uint32_t)(int32_t)(int16_t)halves[at] << 13) & (int32_t)0x8fffe000;
        memcpy(wide + at, &bits, sizeof bits);
        wide[at] *= 0x1p112f;
    }
}

/* Numbers that a processor multiplies side by side; they may stand anywhere. */
typedef float lanes __attribute__((vector_size(4 * LANES)));
typedef float anywhere_lanes __attribute__((vector_size(4 * LANES), aligned(4)));
#define AT(numbers, at) (*(const anywhere_lanes *)((numbers) + (at)))

INLINED float sum_of(const lanes *of) {
    float total = 0;
    for (int lane = 0; lane < LANES; lane++) total += (*of)[lane];
    return total;
}

INLINED float dot(const float *left, const float *right, int64_t size) {
    lanes even = {0}, odd = {0};
    int64_t at = 0;
    for (; at + 2 * LANES <= size; at += 2 * LANES) {
        even += AT(left, at) * AT(right, at);
        odd += AT(left, at + LANES) * AT(right, at + LANES);
    }
    even += odd;
    float total = sum_of(&even);
    for (; at < size; at++) total += left[at] * right[at];
    return total;
}

/* The products of a vector with the question, the resting point and itself. */
typedef struct {
    float question, mean, self;
} products;

INLINED products multiply(const float *vector, const float *question, const float *mean, int64_t size) {
    lanes on_question = {0}, on_mean = {0}, on_self = {0}, odd_question = {0}, odd_mean = {0}, odd_self = {0};
    int64_t at = 0;
    for (; at + 2 * LANES <= size; at += 2 * LANES) {
        lanes even = AT(vector, at), odd = AT(vector, at + LANES);
        on_question += even * AT(question, at);
        odd_question += odd * AT(question, at + LANES);
        on_mean += even * AT(mean, at);
        odd_mean += odd * AT(mean, at + LANES);
        on_self += even * even;
        odd_self += odd * odd;
    }
    on_question += odd_question;
    on_mean += odd_mean;
    on_self += odd_self;
    products of = {sum_of(&on_question), sum_of(&on_mean), sum_of(&on_self)};
    for (; at < size; at++) {
        of.question += vector[at] * question[at];
        of.mean += vector[at] * mean[at];
        of.self += vector[at] * vector[at];
    }
    return of;
}

/* sum += share · vector */
INLINED void add_vector(float *sum, float share, const float *vector, int64_t size) {
    int64_t at = 0;
    for (; at + LANES <= size; at += LANES) *(anywhere_lanes *)(sum + at) += share * AT(vector, at);
    for (; at < size; at++) sum[at] += share * vector[at];
}

typedef void widening(const uint16_t *, int64_t, float *);

/* Vectors of facts and turns: rows of a table at single precision, or at half if there is a way to widen them. */
typedef struct {
    const void *table;
    const int64_t *at;
    const uint8_t *embedded;
    int64_t rows, dimension;
    widening *widen;
} vectors;

/* The question q as seen from the resting point m, that point, and the question p as it is. */
typedef struct {
    const float *question, *mean, *plain;
} axes;

/* Turns around facts: rows of the vectors, so many a fact, and what each counts. */
typedef struct {
    const int32_t *turns;
    const double *weights;
    int64_t width;
} surroundings;

/* Memory for each row: its vector at single precision, its cosine, and its length; and for the sum of some vectors. */
typedef struct {
    float *wide;
    int64_t stride;
    double *cosines;
    float *lengths, *sum;
} workspace;

INLINED const float *row_of_table(const vectors *of, int64_t row, const workspace *room) {
    return of->widen ? room->wide + row * room->stride : (const float *)of->table + of->at[row] * of->dimension;
}

/* Of each row (v·q − m·q) / |v − m| and |v − m|, and v·p of the facts, which come first. Without a later use, all rows are widened
   into the same place. */
INLINED void measure(const vectors *of, const axes *by, int64_t facts, const workspace *room, double *raw) {
    int64_t dimension = of->dimension, width = dimension * (of->widen ? 2 : 4);
    float question_on_mean = dot(by->question, by->mean, dimension), mean_on_mean = dot(by->mean, by->mean, dimension);
    for (int64_t row = 0; row < of->rows; row++) {
        if (row + 4 < of->rows)
            for (int64_t at = 0; at < width; at += 64) __builtin_prefetch((const char *)of->table + of->at[row + 4] * width + at);
        if (of->widen) of->widen((const uint16_t *)of->table + of->at[row] * dimension, dimension, room->wide + row * room->stride);
        const float *vector = row_of_table(of, row, room);
        products on = multiply(vector, by->question, by->mean, dimension);
        float squared = on.self - 2 * on.mean + mean_on_mean;
        float length = of->embedded[row] ? sqrtf(squared > 0 ? squared : 0) : 0;
        room->lengths[row] = length;
        room->cosines[row] = length > MIN_LENGTH ? (double)(on.question - question_on_mean) / length : 0;
        if (raw && row < facts) raw[row] = dot(vector, by->plain, dimension);
    }
}

/* Σ wₜcₜ / |Σ wₜuₜ| over a fact and the turns around it, u being (v − m) / |v − m|. */
INLINED void mix(const vectors *of, const axes *by, const surroundings *around, int64_t facts, const workspace *room, double *mixed) {
    int64_t dimension = of->dimension;
    float *sum = room->sum;
    for (int64_t fact = 0; fact < facts; fact++) {
        const int32_t *turns = around->turns + fact * around->width;
        const double *weights = around->weights + fact * around->width;
        double towards = room->cosines[fact];
        int is_alone = 1;
        for (int64_t turn = 0; turn < around->width; turn++) is_alone &= turns[turn] < 0;
        mixed[fact] = towards;
        if (is_alone) continue;
        float own = room->lengths[fact] > MIN_LENGTH ? 1 / room->lengths[fact] : 0, whole = own;
        const float *vector = row_of_table(of, fact, room);
        memset(sum, 0, (size_t)dimension * sizeof *sum);
        add_vector(sum, own, vector, dimension);
        for (int64_t turn = 0; turn < around->width; turn++) {
            int32_t row = turns[turn];
            if (row < 0) continue;
            float share = room->lengths[row] > MIN_LENGTH ? (float)(weights[turn] / room->lengths[row]) : 0;
            vector = row_of_table(of, row, room);
            towards += weights[turn] * room->cosines[row];
            whole += share;
            add_vector(sum, share, vector, dimension);
        }
        add_vector(sum, -whole, by->mean, dimension);
        float length = sqrtf(dot(sum, sum, dimension));
        mixed[fact] = length > MIN_LENGTH ? towards / length : 0;
    }
}

static void compare_anywhere(const vectors *of, const axes *by, const surroundings *around, int64_t facts, const workspace *room,
                             double *mixed, double *raw) {
    measure(of, by, facts, room, raw);
    mix(of, by, around, facts, room, mixed);
}

#if defined(__x86_64__)
FOR_AVX2 static void compare_avx2(const vectors *of, const axes *by, const surroundings *around, int64_t facts,
                                  const workspace *room, double *mixed, double *raw) {
    measure(of, by, facts, room, raw);
    mix(of, by, around, facts, room, mixed);
}

FOR_AVX2 static void widen_avx2(const uint16_t *halves, int64_t size, float *wide) {
    int64_t at = 0;
    for (; at + 8 <= size; at += 8)
        _mm256_storeu_ps(wide + at, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(halves + at))));
    widen_anywhere(halves + at, size - at, wide + at);
}
#endif

/* Cosines of facts with the question and what the turns around them mean, and v·p of each unless `raw` is none. `at` are rows of a table of `size` vectors
   at single or half precision, the facts first; `turns` are indices of `at`, -1 for none, and `weights` what each counts. `axes_` has
   three rows: q, m and p. `room` has space for `rows` + 1 vectors and two numbers more a row; `cosines` for a number a row. */
EXPORTED int64_t context_cosines(const void *table, int64_t is_half, int64_t size, int64_t dimension, const int64_t *at,
                                 const uint8_t *embedded, int64_t rows, const float *axes_, const int32_t *turns,
                                 const double *weights, int64_t width, int64_t facts, float *room_, double *cosines, double *mixed,
                                 double *raw) {
    if (facts > rows || !are_rows(at, rows, size)) return OUT_OF_RANGE;
    for (int64_t turn = 0; turn < facts * width; turn++)
        if (turns[turn] >= rows) return OUT_OF_RANGE;
    vectors of = {table, at, embedded, rows, dimension, is_half ? widen_anywhere : 0};
    axes by = {axes_, axes_ + dimension, axes_ + 2 * dimension};
    surroundings around = {turns, weights, width};
    workspace room = {room_ + dimension + rows, width ? dimension : 0, cosines, room_ + dimension, room_};
#if defined(__x86_64__)
    if (processor_has(HAS_AVX2)) {
        if (is_half) of.widen = widen_avx2;
        compare_avx2(&of, &by, &around, facts, &room, mixed, raw);
        return facts;
    }
#endif
    compare_anywhere(&of, &by, &around, facts, &room, mixed, raw);
    return facts;
}

/* 5. Neighbours: the highest numbers of each row, block after block. */

/* So many numbers are passed over at once if none of them is high enough. */
#define STRETCH 16

INLINED int any_above(const float *numbers, float least) {
    int is_any = 0;
    for (int at = 0; at < STRETCH; at++) is_any |= numbers[at] > least;
    return is_any;
}

/* Insert a number among the highest, behind those that are as high. */
INLINED void insert(float number, int64_t name, float *best, int64_t *names, int64_t most) {
    int64_t at = most - 1;
    for (; at > 0 && best[at - 1] < number; at--) {
        best[at] = best[at - 1];
        names[at] = names[at - 1];
    }
    best[at] = number;
    names[at] = name;
}

/* Merge the numbers of a block into the `most` highest of each row, the highest first: row i of the block counts for row owner[i] of
   `best` and `best_names`, which have `held` rows. The column with the row's own name is left out. */
EXPORTED int64_t keep_highest(const float *block, int64_t rows, int64_t columns, const int64_t *names, const int64_t *owner,
                              const int64_t *own_name, int64_t held, int64_t most, float *best, int64_t *best_names) {
    if (!are_rows(owner, rows, held)) return OUT_OF_RANGE;
    for (int64_t row = 0; row < rows && most > 0; row++) {
        const float *numbers = block + row * columns;
        float *row_best = best + owner[row] * most;
        int64_t *row_names = best_names + owner[row] * most;
        for (int64_t first = 0; first < columns; first += STRETCH) {
            int64_t end = first + STRETCH < columns ? first + STRETCH : columns;
            if (end - first == STRETCH && !any_above(numbers + first, row_best[most - 1])) continue;
            for (int64_t at = first; at < end; at++)
                if (numbers[at] > row_best[most - 1] && names[at] != own_name[row])
                    insert(numbers[at], names[at], row_best, row_names, most);
        }
    }
    return rows;
}
