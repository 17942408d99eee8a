/* Words: the best facts by BM25 out of the postings, and what facts hold of a question with what turns lend them. The twin of
   stores/index/word_scores.py and of saturation in verbs/direct.py. */

#include "weighing.h"

/* As in stores/index/word_scores.py: of a word that more facts hold only rivals are looked at, and less than this decides nothing. */
#define CROWDED 2048
#define SLACK 2e-6
/* What is looked at so many steps from now is fetched already: of short steps more, of those from turn to turn fewer. */
#define AHEAD 32
#define TURNS_AHEAD 8
/* To look for one among many takes as long as to pass by so many. */
#define MANY_MORE 8

/* What a question gives a fact so far, and of the word at hand how often the fact holds it and what others lend it. */
typedef struct {
    double score;
    float own, lent;
} cell;

/* Room for all facts, all zero between two questions. `scored` and `met` name those that are not. */
typedef struct {
    cell *cells;
    int32_t *scored, *met;
} scratch;

/* k₁(1 − b + b·length/mean) as a line: what is always there, and what comes with each word. */
typedef struct {
    double always, each;
} line;

INLINED line resistance_of(const constants *by) {
    line found = {by->k1 * (by->mean_length > 0 ? 1 - by->b : 1), by->mean_length > 0 ? by->k1 * by->b / by->mean_length : 0};
    return found;
}

INLINED double resistance(double length, line by) { return by.always + by.each * length; }

INLINED double saturation(double count, double resisting) {
    double whole = count + resisting;
    return count / (whole > 1e-12 ? whole : 1e-12);
}

/* What is known of a fact and of those beside it is looked at soon. */
INLINED void fetch(const columns *facts, const scratch *on, int32_t soon) {
    __builtin_prefetch(on->cells + soon);
    __builtin_prefetch(facts->lengths + soon);
}

INLINED int64_t holders(const told *in, int64_t word) {
    int64_t total = 0;
    for (int64_t part = 0; part < in->texts + in->hints; part++) total += texts_of(in, word)[part].size;
    return total;
}

/* Add to the score of a fact; how many have one by now. */
INLINED int64_t add(scratch *on, int64_t scored, int32_t position, double more) {
    cell *one = on->cells + position;
    if (one->score == 0 && more != 0) on->scored[scored++] = position;
    one->score += more;
    return scored;
}

/* Who holds a word, into `met` and `own`: counts in the text, and in descriptions as far as those count; how many. */
static int64_t meet(const told *in, int64_t word, const columns *facts, int only_alive, const constants *by, scratch *on) {
    int64_t met = 0;
    for (int64_t part = 0; part < in->texts; part++) {
        run held = texts_of(in, word)[part];
        for (int64_t at = 0; at < held.size; at++) {
            if (at + AHEAD < held.size) fetch(facts, on, held.positions[at + AHEAD]);
            int32_t position = held.positions[at];
            if (only_alive && !facts->alive[position]) continue;
            if (on->cells[position].own == 0) on->met[met++] = position;
            on->cells[position].own = held.counts[at];
        }
    }
    if (by->hint_weight == 0) return met;
    for (int64_t part = 0; part < in->hints; part++) {
        run held = hints_of(in, word)[part];
        for (int64_t at = 0; at < held.size; at++) {
            int32_t position = held.positions[at];
            if (only_alive && !facts->alive[position]) continue;
            cell *one = on->cells + position;
            if (one->own == 0 && one->lent == 0) on->met[met++] = position;
            /* A fact is described again and again: the highest count holds. */
            if (one->lent < held.counts[at]) one->lent = held.counts[at];
        }
    }
    for (int64_t at = 0; at < met; at++) {
        cell *one = on->cells + on->met[at];
        one->own += (float)by->hint_weight * one->lent;
        one->lent = 0;
    }
    return met;
}

/* What holders lend the turns around them; how many are met with those. */
static int64_t lend(const columns *facts, const double *lends, int64_t reach, int64_t met, scratch *on) {
    int64_t holding = met;
    for (int64_t at = 0; at < holding; at++) {
        if (at + TURNS_AHEAD < holding) {
            int32_t soon = on->met[at + TURNS_AHEAD];
            __builtin_prefetch(facts->before + soon);
            __builtin_prefetch(facts->after + soon);
            __builtin_prefetch(on->cells + soon);
        }
        int32_t holder = on->met[at];
        float own = on->cells[holder].own;
        for (int side = 0; side < 2; side++) {
            const int32_t *next = side ? facts->after : facts->before;
            int32_t turn = next[holder];
            for (int64_t step = 0; step < reach && turn >= 0; step++, turn = next[turn]) {
                cell *one = on->cells + turn;
                float share = own * (float)lends[side * reach + step];
                /* Only what it was lent tells that a turn was met. */
                if (share <= 0) continue;
                if (one->own == 0 && one->lent == 0) on->met[met++] = turn;
                one->lent += share;
            }
        }
    }
    return met;
}

/* Whether descriptions hold a word, as far as those count. */
INLINED int is_described(const told *in, int64_t word, const constants *by) {
    int64_t described = 0;
    for (int64_t part = 0; part < in->hints; part++) described += hints_of(in, word)[part].size;
    return described && by->hint_weight != 0;
}

/* What a word gives that only texts hold and nobody lends: who holds it is met once, and so need not be noted. */
static int64_t add_plain_word(const told *in, int64_t word, double weight, const columns *facts, line resisting, scratch *on,
                              int64_t scored) {
    for (int64_t part = 0; part < in->texts; part++) {
        run held = texts_of(in, word)[part];
        for (int64_t at = 0; at < held.size; at++) {
            if (at + AHEAD < held.size) fetch(facts, on, held.positions[at + AHEAD]);
            int32_t position = held.positions[at];
            double resists = resistance(facts->lengths[position], resisting);
            scored = add(on, scored, position, weight * saturation(held.counts[at], resists));
        }
    }
    return scored;
}

/* What one word gives everybody; how many have a score by now. */
static int64_t add_word(const told *in, const wording *asked, int64_t word, const columns *facts, const double *lends,
                        int64_t reach, const constants *by, scratch *on, int64_t scored) {
    int is_lent = asked->lent && asked->lent[word] && facts->before;
    line resisting = resistance_of(by);
    if (!is_lent && !is_described(in, word, by))
        return add_plain_word(in, word, asked->weights[word], facts, resisting, on, scored);
    int64_t met = meet(in, word, facts, is_lent, by, on);
    if (is_lent) met = lend(facts, lends, reach, met, on);
    for (int64_t at = 0; at < met; at++) {
        if (at + AHEAD < met) fetch(facts, on, on->met[at + AHEAD]);
        int32_t position = on->met[at];
        cell *one = on->cells + position;
        double length = facts->lengths[position], held = one->own;
        if (one->lent > 0) held += one->lent * openness(length, by->short_);
        one->own = one->lent = 0;
        scored = add(on, scored, position, asked->weights[word] * saturation(held, resistance(length, resisting)));
    }
    return scored;
}

/* How often one fact holds a word. */
static double count_of(const told *in, int64_t word, int32_t position, const constants *by) {
    double told = 0, hinted = 0;
    for (int64_t part = 0; part < in->texts; part++) told += count_at(texts_of(in, word)[part], position);
    for (int64_t part = 0; by->hint_weight != 0 && part < in->hints; part++) {
        double count = count_at(hints_of(in, word)[part], position);
        if (hinted < count) hinted = count;
    }
    return told + by->hint_weight * hinted;
}

/* Put a number in the place of the least of a heap, whose least stands first. */
static void replace_least(double *heap, int64_t size, double number) {
    int64_t at = 0;
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= size) break;
        if (child + 1 < size && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= number) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = number;
}

/* Add a number to a heap that has room for it. */
static void add_to_heap(double *heap, int64_t size, double number) {
    int64_t at = size;
    for (; at > 0 && heap[(at - 1) / 2] > number; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = number;
}

/* The k-th highest of some numbers, of which there are at least so many; `heap` has room for k. */
static double highest(const double *numbers, int64_t many, int64_t k, double *heap) {
    for (int64_t at = 0; at < many; at++) {
        if (at < k) add_to_heap(heap, at, numbers[at]);
        else if (numbers[at] > heap[0]) replace_least(heap, k, numbers[at]);
    }
    return heap[0];
}

/* Whether nobody else than those that have much already can be among the best by words that give at most `left`: then only
   rivals stay in `scored`, moved to the front, and how many there are is told; else -1. `room` holds as many numbers as have a score. */
static int64_t rivals(scratch *on, int64_t scored, const uint8_t *among, int64_t k, double left, double total, double *room,
                      double *heap) {
    int64_t many = 0, kept = 0;
    for (int64_t at = 0; at < scored; at++) {
        double score = on->cells[on->scored[at]].score;
        if (score > left && among[on->scored[at]]) room[many++] = score;
    }
    if (many < k) return -1;
    double least = highest(room, many, k, heap) - SLACK * total;
    if (least <= left) return -1;
    for (int64_t at = 0; at < scored; at++) {
        int32_t position = on->scored[at];
        if (on->cells[position].score >= least - left && among[position]) {
            on->scored[at] = on->scored[kept];
            on->scored[kept++] = position;
        }
    }
    return kept;
}

/* What a common word gives rivals: each is looked for among its holders, or if these are not many more, they are passed through. */
static void add_for_rivals(const told *in, const wording *asked, int64_t word, const columns *facts, const constants *by,
                           scratch *on, int64_t few) {
    line resisting = resistance_of(by);
    if (holders(in, word) > MANY_MORE * few) {
        for (int64_t at = 0; at < few; at++) {
            int32_t position = on->scored[at];
            double count = count_of(in, word, position, by), resists = resistance(facts->lengths[position], resisting);
            on->cells[position].score += asked->weights[word] * saturation(count, resists);
        }
        return;
    }
    int64_t met = meet(in, word, facts, 0, by, on);
    for (int64_t at = 0; at < met; at++) {
        int32_t position = on->met[at];
        cell *one = on->cells + position;
        /* Who has no score yet is no rival, and who is no rival may have any. */
        if (one->score > 0)
            one->score += asked->weights[word] * saturation(one->own, resistance(facts->lengths[position], resisting));
        one->own = 0;
    }
}

/* Take the scores out of the cells, which are zero from then on: positions and shares of the total of those that may be found, of the
   first `looked_at`; how many. */
static int64_t take(scratch *on, int64_t scored, int64_t looked_at, const uint8_t *among, double total, int64_t *found,
                    double *shares) {
    int64_t count = 0;
    for (int64_t at = 0; at < scored; at++) {
        if (at + AHEAD < scored) __builtin_prefetch(on->cells + on->scored[at + AHEAD]);
        int32_t position = on->scored[at];
        double score = on->cells[position].score;
        on->cells[position].score = 0;
        if (at >= looked_at || score <= 0 || !among[position]) continue;
        found[count] = position;
        shares[count++] = score / total;
    }
    return count;
}

/* The k best by BM25 with their scores, in no order, and all that equal the last of them; how many. Words come in the order of
   weight, the heaviest first. All in `on` is zero before and after. */
EXPORTED int64_t best_by_words(const shelf *in, const wording *asked, const constants *by, const columns *facts,
                               const double *lends, int64_t reach, const uint8_t *among, int64_t k, scratch *on,
                               int64_t *found, double *found_scores) {
    int64_t scored = 0, few = -1, lent_left = 0, count = 0;
    double left = by->total;
    if (k < 1) return 0;
    if (k > facts->size) k = facts->size;
    told said = looked_up(in, asked);
    double *heap = malloc((size_t)(k + 1) * sizeof *heap);
    if (!said.runs || !heap) {
        free(said.runs);
        free(heap);
        return NO_ROOM;
    }
    for (int64_t word = 0; word < asked->many; word++) lent_left += facts->before && asked->lent && asked->lent[word];
    for (int64_t word = 0; word < asked->many; word++) {
        if (few < 0 && !lent_left && holders(&said, word) > CROWDED) {
            few = rivals(on, scored, among, k, left, by->total, found_scores, heap);
        }
        if (few >= 0) {
            add_for_rivals(&said, asked, word, facts, by, on, few);
            continue;
        }
        scored = add_word(&said, asked, word, facts, lends, reach, by, on, scored);
        lent_left -= facts->before && asked->lent && asked->lent[word];
        left -= asked->weights[word];
    }
    int64_t many = take(on, scored, few < 0 ? scored : few, among, by->total, found, found_scores);
    double least = many > k ? highest(found_scores, many, k, heap) - SLACK : 0;
    for (int64_t at = 0; at < many; at++) {
        if (found_scores[at] < least) continue;
        found[count] = found[at];
        found_scores[count++] = found_scores[at];
    }
    free(said.runs);
    free(heap);
    return count;
}

/* What facts hold of a question as rows tell it, with what the turns around them lend: BM25 as a share of all that its words
   could give. Of the turns around, `reach` a side lend by `lends`. */
int64_t shares_of_words(const held_words *held, const double *lends, int64_t reach, const wording *asked, const constants *by,
                        int64_t facts, double *shares) {
    int64_t words = asked->many;
    line by_length = resistance_of(by);
    double *lent = malloc((size_t)(words + 1) * sizeof *lent);
    if (!lent) return NO_ROOM;
    for (int64_t fact = 0; fact < facts; fact++) {
        double length = held->lengths[fact], opened = openness(length, by->short_), lent_length = 0, sum = 0;
        const int32_t *around = held->around + fact * 2 * held->told;
        memset(lent, 0, (size_t)words * sizeof *lent);
        for (int64_t turn = 0; turn < 2 * reach; turn++) {
            int32_t row = around[turn < reach ? turn : held->told + turn - reach];
            if (row < 0) continue;
            double weight = opened * lends[turn];
            lent_length += weight * held->lengths[row];
            for (int64_t word = 0; word < words; word++) lent[word] += weight * held->counts[row * words + word];
        }
        double resisting = resistance(lent_length > 0 ? (length + lent_length) / by->usual : length, by_length);
        for (int64_t word = 0; word < words; word++) {
            double count = held->counts[fact * words + word] + by->hint_weight * held->hints[fact * words + word];
            if (asked->lent && asked->lent[word]) count += lent[word];
            sum += asked->weights[word] * saturation(count, resisting);
        }
        shares[fact] = by->total > 0 ? sum / by->total : 0;
    }
    free(lent);
    return facts;
}
