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

/* A fact that holds a word of the question, or is lent one: what that gives it so far, and of the word at hand how often it holds it
   and what others lend it. */
typedef struct {
    double score;
    float own, lent, length;
    int32_t position;
} holder;

/* Holders in the order in which they are met, and by position which of them a fact is; -1 everywhere between two questions. So what is
   looked at here and there is small, and all else stands together. `met` names those who hold the word at hand, `rivals` those who may
   still be among the best; there is room for all facts. */
typedef struct {
    int32_t *place_of;
    holder *holders;
    int32_t *met, *rivals;
    int64_t many;
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

/* What is known of a fact is looked at soon. */
INLINED void fetch(const columns *facts, const scratch *on, int32_t soon) {
    __builtin_prefetch(on->place_of + soon);
    __builtin_prefetch(facts->lengths + soon);
}

INLINED int64_t all_holders(const told *in, int64_t word) {
    int64_t total = 0;
    for (int64_t part = 0; part < in->texts + in->hints; part++) total += texts_of(in, word)[part].size;
    return total;
}

/* Where a fact stands among the holders; from now on, if it did not before. */
INLINED int32_t placed(const columns *facts, scratch *on, int32_t position) {
    if (on->place_of[position] < 0) {
        holder new = {0, 0, 0, (float)facts->lengths[position], position};
        on->place_of[position] = (int32_t)on->many;
        on->holders[on->many++] = new;
    }
    return on->place_of[position];
}

/* Whose counts are wanted: only of facts that are there, only of those that are holders already. */
typedef struct {
    int only_alive, only_known;
} wanted;

/* The place of a fact that is wanted, else -1. */
INLINED int32_t wanted_place(const columns *facts, scratch *on, int32_t position, wanted who) {
    if (who.only_alive && !facts->alive[position]) return -1;
    return who.only_known ? on->place_of[position] : placed(facts, on, position);
}

/* Who holds a word, into `met` and `own`: counts in the text, and in descriptions as far as those count; how many. */
static int64_t meet(const told *in, int64_t word, const columns *facts, wanted who, const constants *by, scratch *on) {
    int64_t met = 0;
    for (int64_t part = 0; part < in->texts; part++) {
        run held = texts_of(in, word)[part];
        for (int64_t at = 0; at < held.size; at++) {
            if (at + AHEAD < held.size) fetch(facts, on, held.positions[at + AHEAD]);
            int32_t place = wanted_place(facts, on, held.positions[at], who);
            if (place < 0) continue;
            if (on->holders[place].own == 0) on->met[met++] = place;
            on->holders[place].own = held.counts[at];
        }
    }
    if (by->hint_weight == 0) return met;
    for (int64_t part = 0; part < in->hints; part++) {
        run held = hints_of(in, word)[part];
        for (int64_t at = 0; at < held.size; at++) {
            int32_t place = wanted_place(facts, on, held.positions[at], who);
            if (place < 0) continue;
            holder *one = on->holders + place;
            if (one->own == 0 && one->lent == 0) on->met[met++] = place;
            /* A fact is described again and again: the highest count holds. */
            if (one->lent < held.counts[at]) one->lent = held.counts[at];
        }
    }
    for (int64_t at = 0; at < met; at++) {
        holder *one = on->holders + on->met[at];
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
            int32_t soon = on->holders[on->met[at + TURNS_AHEAD]].position;
            __builtin_prefetch(facts->before + soon);
            __builtin_prefetch(facts->after + soon);
        }
        int32_t lender = on->holders[on->met[at]].position;
        float own = on->holders[on->met[at]].own;
        for (int side = 0; side < 2; side++) {
            const int32_t *next = side ? facts->after : facts->before;
            int32_t turn = next[lender];
            for (int64_t step = 0; step < reach && turn >= 0; step++, turn = next[turn]) {
                float share = own * (float)lends[side * reach + step];
                /* Only what it was lent tells that a turn was met. */
                if (share <= 0) continue;
                int32_t place = placed(facts, on, turn);
                holder *one = on->holders + place;
                if (one->own == 0 && one->lent == 0) on->met[met++] = place;
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
static void add_plain_word(const told *in, int64_t word, double weight, const columns *facts, line resisting, scratch *on) {
    for (int64_t part = 0; part < in->texts; part++) {
        run held = texts_of(in, word)[part];
        for (int64_t at = 0; at < held.size; at++) {
            if (at + AHEAD < held.size) fetch(facts, on, held.positions[at + AHEAD]);
            holder *one = on->holders + placed(facts, on, held.positions[at]);
            one->score += weight * saturation(held.counts[at], resistance(one->length, resisting));
        }
    }
}

/* What one word gives everybody. */
static void add_word(const told *in, const wording *asked, int64_t word, const columns *facts, const double *lends, int64_t reach,
                     const constants *by, scratch *on) {
    int is_lent = asked->lent && asked->lent[word] && facts->before;
    line resisting = resistance_of(by);
    if (!is_lent && !is_described(in, word, by)) {
        add_plain_word(in, word, asked->weights[word], facts, resisting, on);
        return;
    }
    wanted who = {.only_alive = is_lent};
    int64_t met = meet(in, word, facts, who, by, on);
    if (is_lent) met = lend(facts, lends, reach, met, on);
    for (int64_t at = 0; at < met; at++) {
        holder *one = on->holders + on->met[at];
        double held = one->own;
        if (one->lent > 0) held += one->lent * openness(one->length, by->short_);
        one->own = one->lent = 0;
        one->score += asked->weights[word] * saturation(held, resistance(one->length, resisting));
    }
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

/* Whether nobody else than those that have much already can be among the best by words that give at most `left`: then these are the
   rivals, and how many there are is told; else -1. `room` holds as many numbers as there are holders. */
static int64_t find_rivals(scratch *on, const uint8_t *among, int64_t k, double left, double total, double *room, double *heap) {
    int64_t many = 0, kept = 0;
    for (const holder *one = on->holders; one < on->holders + on->many; one++)
        if (one->score > left && among[one->position]) room[many++] = one->score;
    if (many < k) return -1;
    double least = highest(room, many, k, heap) - SLACK * total;
    if (least <= left) return -1;
    for (int64_t at = 0; at < on->many; at++)
        if (on->holders[at].score >= least - left && among[on->holders[at].position]) on->rivals[kept++] = (int32_t)at;
    return kept;
}

/* What a common word gives rivals: each is looked for among its holders, or if these are not many more, they are passed through. */
static void add_for_rivals(const told *in, const wording *asked, int64_t word, const columns *facts, const constants *by,
                           scratch *on, int64_t few) {
    line resisting = resistance_of(by);
    double weight = asked->weights[word];
    if (all_holders(in, word) > MANY_MORE * few) {
        for (int64_t at = 0; at < few; at++) {
            holder *one = on->holders + on->rivals[at];
            one->score += weight * saturation(count_of(in, word, one->position, by), resistance(one->length, resisting));
        }
        return;
    }
    /* Who was not met before is no rival, and who is no rival may have any score. */
    wanted who = {.only_known = 1};
    int64_t met = meet(in, word, facts, who, by, on);
    for (int64_t at = 0; at < met; at++) {
        holder *one = on->holders + on->met[at];
        one->score += weight * saturation(one->own, resistance(one->length, resisting));
        one->own = 0;
    }
}

/* Positions and shares of the total of holders that may be found, of the rivals if there are any; how many. Nobody is a holder
   from then on. */
static int64_t take(scratch *on, int64_t few, const uint8_t *among, double total, int64_t *found, double *shares) {
    int64_t count = 0, looked_at = few < 0 ? on->many : few;
    for (int64_t at = 0; at < looked_at; at++) {
        const holder *one = on->holders + (few < 0 ? at : on->rivals[at]);
        if (one->score <= 0 || !among[one->position]) continue;
        found[count] = one->position;
        shares[count++] = one->score / total;
    }
    for (const holder *one = on->holders; one < on->holders + on->many; one++) on->place_of[one->position] = -1;
    on->many = 0;
    return count;
}

/* The k best by BM25 with their scores, in no order, and all that equal the last of them; how many. Words come in the order of
   weight, the heaviest first. There is no holder in `on` before and after. */
EXPORTED int64_t best_by_words(const shelf *in, const wording *asked, const constants *by, const columns *facts,
                               const double *lends, int64_t reach, const uint8_t *among, int64_t k, scratch *on,
                               int64_t *found, double *found_scores) {
    int64_t few = -1, lent_left = 0, count = 0;
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
        if (few < 0 && !lent_left && all_holders(&said, word) > CROWDED)
            few = find_rivals(on, among, k, left, by->total, found_scores, heap);
        if (few >= 0) {
            add_for_rivals(&said, asked, word, facts, by, on, few);
            continue;
        }
        add_word(&said, asked, word, facts, lends, reach, by, on);
        lent_left -= facts->before && asked->lent && asked->lent[word];
        left -= asked->weights[word];
    }
    int64_t many = take(on, few, among, by->total, found, found_scores);
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
