/* Words: the best facts by BM25 out of the postings, what turns lend each other, and which facts hold which words. The twin of
   stores/index/word_scores.py, of evidence in stores/index/looking.py and of saturation in verbs/direct.py. */

#include "kernels.h"

/* As in stores/index/word_scores.py: of a word that more facts hold only rivals are looked at, and less than this decides nothing. */
#define CROWDED 2048
#define SLACK 2e-6
/* Who is looked for among many more is looked for one by one. */
#define MANY_MORE 16
/* What is looked at so many steps from now is fetched already. */
#define AHEAD 8

/* The segments of the texts and of the descriptions. */
typedef struct {
    const segment *texts;
    int64_t text_segments;
    const segment *hints;
    int64_t hint_segments;
} shelf;

/* A question's words: the number of each in texts and in descriptions, its weight, and whether turns lend it. */
typedef struct {
    const int64_t *terms, *hints;
    const double *weights;
    const uint8_t *lent;
    int64_t many;
} wording;

/* The constants of BM25 and of lending, in the order in which Python gives them. */
typedef struct {
    double hint_weight, k1, b, mean_length, short_, usual, total;
} constants;

/* The facts of the index: how long each is, who is there, and who comes before and after whom; no turns if `before` is none. */
typedef struct {
    const int32_t *lengths;
    const uint8_t *alive;
    const int32_t *before, *after;
    int64_t size;
} columns;

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

INLINED double resistance(double length, const constants *by) {
    double relative = by->mean_length > 0 ? length / by->mean_length : 1;
    return by->k1 * (1 - by->b + by->b * relative);
}

INLINED double saturation(double count, double resisting) {
    double whole = count + resisting;
    return count / (whole > 1e-12 ? whole : 1e-12);
}

INLINED double openness(double length, double short_) {
    double opened = short_ / (length > 1 ? length : 1);
    return opened < 1 ? opened : 1;
}

/* What every segment tells of the words, looked up once: of a word first the runs of texts, then those of descriptions. */
typedef struct {
    run *runs;
    int64_t texts, hints;
} told;

INLINED const run *texts_of(const told *in, int64_t word) { return in->runs + word * (in->texts + in->hints); }

INLINED const run *hints_of(const told *in, int64_t word) { return texts_of(in, word) + in->texts; }

static told looked_up(const shelf *in, const wording *asked) {
    told found = {0, in->text_segments, in->hint_segments};
    found.runs = malloc((size_t)(asked->many * (found.texts + found.hints) + 1) * sizeof *found.runs);
    for (int64_t word = 0; found.runs && word < asked->many; word++) {
        run *to = (run *)texts_of(&found, word);
        for (int64_t part = 0; part < found.texts; part++) *to++ = run_of(in->texts + part, asked->terms[word]);
        for (int64_t part = 0; part < found.hints; part++) *to++ = run_of(in->hints + part, asked->hints[word]);
    }
    return found;
}

INLINED int64_t holders(const told *in, int64_t word) {
    int64_t total = 0;
    for (int64_t part = 0; part < in->texts + in->hints; part++) total += texts_of(in, word)[part].size;
    return total;
}

/* Add to the score of a fact; how many have one by now. */
INLINED int64_t add(scratch *on, int64_t scored, int32_t position, double more) {
    cell *one = on->cells + position;
    if (one->score == 0 && more > 0) on->scored[scored++] = position;
    one->score += more;
    return scored;
}

/* Who holds a word, into `met` and `own`: counts in the text, and in descriptions as far as those count; how many. */
static int64_t meet(const told *in, int64_t word, const columns *facts, int only_alive, const constants *by, scratch *on) {
    int64_t met = 0;
    for (int64_t part = 0; part < in->texts; part++) {
        run held = texts_of(in, word)[part];
        for (int64_t at = 0; at < held.size; at++) {
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
        if (at + AHEAD < holding) {
            int32_t soon = on->met[at + AHEAD];
            __builtin_prefetch(facts->before + soon);
            __builtin_prefetch(facts->after + soon);
            __builtin_prefetch(facts->lengths + soon);
        }
        int32_t holder = on->met[at];
        float own = on->cells[holder].own;
        for (int side = 0; side < 2; side++) {
            const int32_t *next = side ? facts->after : facts->before;
            int32_t turn = next[holder];
            for (int64_t step = 0; step < reach && turn >= 0; step++, turn = next[turn]) {
                cell *one = on->cells + turn;
                if (one->own == 0 && one->lent == 0) on->met[met++] = turn;
                one->lent += own * (float)lends[side * reach + step];
            }
        }
    }
    return met;
}

/* What one word gives everybody; how many have a score by now. */
static int64_t add_word(const told *in, const wording *asked, int64_t word, const columns *facts, const double *lends,
                        int64_t reach, const constants *by, scratch *on, int64_t scored) {
    int is_lent = asked->lent && asked->lent[word] && facts->before;
    int64_t met = meet(in, word, facts, is_lent, by, on);
    if (is_lent) met = lend(facts, lends, reach, met, on);
    for (int64_t at = 0; at < met; at++) {
        int32_t position = on->met[at];
        cell *one = on->cells + position;
        double length = facts->lengths[position], held = one->own;
        if (one->lent > 0) held += one->lent * openness(length, by->short_);
        one->own = one->lent = 0;
        scored = add(on, scored, position, asked->weights[word] * saturation(held, resistance(length, by)));
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

/* The k-th highest score of those that may be found; `room` holds as many numbers as have a score. */
static double highest(const scratch *on, int64_t scored, const uint8_t *among, double above, int64_t k, double *room,
                      int64_t *many) {
    *many = 0;
    for (int64_t at = 0; at < scored; at++) {
        double score = on->cells[on->scored[at]].score;
        if (score > above && among[on->scored[at]]) room[(*many)++] = score;
    }
    return *many >= k ? selected(room, *many, *many - k) : above;
}

/* Whether nobody else than those that have much already can be among the best by words that give at most `left`: then only
   rivals stay in `scored`, moved to the front, and how many there are is told; else -1. */
static int64_t rivals(scratch *on, int64_t scored, const uint8_t *among, int64_t k, double left, double total, double *room) {
    int64_t many;
    double least = highest(on, scored, among, left, k, room, &many) - SLACK * total;
    if (many < k || least <= left) return -1;
    int64_t kept = 0;
    for (int64_t at = 0; at < scored; at++) {
        int32_t position = on->scored[at];
        if (on->cells[position].score >= least - left && among[position]) {
            on->scored[at] = on->scored[kept];
            on->scored[kept++] = position;
        }
    }
    return kept;
}

/* The k best by BM25 with their scores, in no order, and all that equal the last of them; how many. Words come in the order of
   weight, the heaviest first. All in `on` is zero before and after. */
EXPORTED int64_t best_by_words(const shelf *in, const wording *asked, const constants *by, const columns *facts,
                               const double *lends, int64_t reach, const uint8_t *among, int64_t k, scratch *on,
                               int64_t *found, double *found_scores) {
    int64_t scored = 0, few = -1, lent_left = 0;
    double left = by->total;
    told said = looked_up(in, asked);
    if (!said.runs) return NO_ROOM;
    for (int64_t word = 0; word < asked->many; word++) lent_left += facts->before && asked->lent && asked->lent[word];
    for (int64_t word = 0; word < asked->many; word++) {
        if (few < 0 && !lent_left && holders(&said, word) > CROWDED) {
            few = rivals(on, scored, among, k, left, by->total, found_scores);
        }
        if (few >= 0) {
            for (int64_t at = 0; at < few; at++) {
                int32_t position = on->scored[at];
                double count = count_of(&said, word, position, by);
                on->cells[position].score += asked->weights[word] * saturation(count, resistance(facts->lengths[position], by));
            }
            continue;
        }
        scored = add_word(&said, asked, word, facts, lends, reach, by, on, scored);
        lent_left -= facts->before && asked->lent && asked->lent[word];
        left -= asked->weights[word];
    }
    int64_t many, count = 0, looked_at = few < 0 ? scored : few;
    double least = highest(on, looked_at, among, 0, k, found_scores, &many) / by->total - SLACK;
    if (many <= k) least = 0;
    for (int64_t at = 0; at < looked_at; at++) {
        int32_t position = on->scored[at];
        double score = on->cells[position].score / by->total;
        if (score > 0 && score >= least && among[position]) {
            found[count] = position;
            found_scores[count++] = score;
        }
    }
    for (int64_t at = 0; at < scored; at++) on->cells[on->scored[at]].score = 0;
    free(said.runs);
    return count;
}

/* What evidence is about: facts by position, how many turns around each are told, `near` of them with vectors, and marks that facts
   may bear. */
typedef struct {
    const int64_t *positions;
    int64_t facts, reach, near;
    const int64_t *marks;
    int64_t many_marks;
} circle;

/* What is gathered: rows by position and how long each is, the turns around facts as rows, how often each row holds each word, in
   texts and in descriptions, and which facts bear which mark. */
typedef struct {
    int64_t *rows;
    float *lengths;
    int32_t *around;
    float *counts, *hints;
    uint8_t *bears;
} gathered;

/* Number a position if it has no row yet; how many rows there are. */
INLINED int64_t numbered(int32_t position, int32_t *row_of, int64_t *rows, int64_t many) {
    if (row_of[position] < 0) {
        row_of[position] = (int32_t)many;
        rows[many++] = position;
    }
    return many;
}

/* The turns around facts as rows, `around`: those before each, the nearest first, then those after it; first those that are
   near are numbered, then all others. Tells how many rows there are, and through `first` how many with the near ones. */
static int64_t gather(const circle *of, const columns *facts, int32_t *row_of, int64_t *rows, int32_t *around, int64_t *first) {
    int64_t many = of->facts;
    for (int64_t at = 0; at < of->facts; at++) {
        rows[at] = of->positions[at];
        row_of[of->positions[at]] = (int32_t)at;
    }
    *first = many;
    if (!facts->before) return many;
    for (int pass = 0; pass < 2; pass++) {
        int64_t reach = pass ? of->reach : of->near < of->reach ? of->near : of->reach;
        for (int64_t at = 0; at < of->facts; at++)
            for (int side = 0; side < 2; side++) {
                const int32_t *next = side ? facts->after : facts->before;
                int32_t turn = next[of->positions[at]], *told = around + (2 * at + side) * of->reach;
                for (int64_t step = 0; step < reach && turn >= 0; step++, turn = next[turn]) {
                    many = numbered(turn, row_of, rows, many);
                    told[step] = row_of[turn];
                }
            }
        if (!pass) *first = many;
    }
    return many;
}

/* Fill one column of counts: of few postings each is looked at, of many only the rows are looked for. */
static void count_rows(run held, const int64_t *rows, int64_t many, const int32_t *row_of, float *counts, int64_t width) {
    if (held.size <= MANY_MORE * many) {
        for (int64_t at = 0; at < held.size; at++) {
            int32_t row = row_of[held.positions[at]];
            if (row >= 0 && row < many && counts[row * width] < held.counts[at]) counts[row * width] = held.counts[at];
        }
        return;
    }
    for (int64_t row = 0; row < many; row++) {
        float count = count_at(held, (int32_t)rows[row]);
        if (counts[row * width] < count) counts[row * width] = count;
    }
}

/* Which facts bear a mark, whatever it counts. */
static void look_for_mark(const shelf *in, int64_t mark, const circle *of, uint8_t *bears) {
    memset(bears, 0, (size_t)of->facts);
    for (int64_t part = 0; part < in->text_segments; part++) {
        run held = run_of(in->texts + part, mark);
        for (int64_t at = 0; held.size && at < of->facts; at++) bears[at] |= holds(held, (int32_t)of->positions[at]);
    }
}

/* What scoring needs of facts and of the turns around them. How many rows there are; `first` tells how many of them are facts and
   near turns. `row_of` is -1 everywhere before and after, `around` before. */
EXPORTED int64_t gather_evidence(const shelf *in, const wording *asked, const columns *facts, const circle *of,
                                 int32_t *row_of, gathered *out, int64_t *first) {
    int64_t *rows = out->rows;
    float *counts = out->counts, *hints = out->hints;
    told said = looked_up(in, asked);
    if (!said.runs) return NO_ROOM;
    int64_t many = gather(of, facts, row_of, rows, out->around, first);
    for (int64_t row = 0; row < many; row++) out->lengths[row] = (float)facts->lengths[rows[row]];
    for (int64_t mark = 0; mark < of->many_marks; mark++)
        look_for_mark(in, of->marks[mark], of, out->bears + mark * of->facts);
    memset(counts, 0, (size_t)(many * asked->many) * sizeof *counts);
    for (int64_t word = 0; word < asked->many; word++) {
        for (int64_t part = 0; part < said.texts; part++)
            count_rows(texts_of(&said, word)[part], rows, many, row_of, counts + word, asked->many);
        for (int64_t part = 0; part < said.hints; part++)
            count_rows(hints_of(&said, word)[part], rows, of->facts, row_of, hints + word, asked->many);
    }
    /* Of a fact that is asked for twice, the last row was filled in. */
    for (int64_t at = 0; at < of->facts; at++) {
        int64_t last = row_of[rows[at]];
        if (last == at) continue;
        memcpy(counts + at * asked->many, counts + last * asked->many, (size_t)asked->many * sizeof *counts);
        memcpy(hints + at * asked->many, hints + last * asked->many, (size_t)asked->many * sizeof *hints);
    }
    for (int64_t row = 0; row < many; row++) row_of[rows[row]] = -1;
    free(said.runs);
    return many;
}

/* What facts hold of a question as rows tell it, with what the turns around them lend: BM25 as a share of all that its words
   could give. `around` has `told` turns a side, of which `reach` lend by `lends`. */
EXPORTED int64_t shares_of_words(const float *counts, const float *hints, const float *lengths, const int32_t *around,
                                 int64_t told, const double *lends, int64_t reach, const wording *asked,
                                 const constants *by, int64_t facts, double *shares) {
    int64_t words = asked->many;
    double *lent = malloc((size_t)(words + 1) * sizeof *lent);
    if (!lent) return NO_ROOM;
    for (int64_t fact = 0; fact < facts; fact++) {
        double length = lengths[fact], opened = openness(length, by->short_), lent_length = 0, sum = 0;
        memset(lent, 0, (size_t)words * sizeof *lent);
        for (int64_t turn = 0; turn < 2 * reach; turn++) {
            int32_t row = around[fact * 2 * told + (turn < reach ? turn : told + turn - reach)];
            if (row < 0) continue;
            double weight = opened * lends[turn];
            lent_length += weight * lengths[row];
            for (int64_t word = 0; word < words; word++) lent[word] += weight * counts[row * words + word];
        }
        double resisting = resistance(lent_length > 0 ? (length + lent_length) / by->usual : length, by);
        for (int64_t word = 0; word < words; word++) {
            double count = counts[fact * words + word] + by->hint_weight * hints[fact * words + word];
            if (asked->lent && asked->lent[word]) count += lent[word];
            sum += asked->weights[word] * saturation(count, resisting);
        }
        shares[fact] = by->total > 0 ? sum / by->total : 0;
    }
    free(lent);
    return facts;
}

/* In which sentences facts hold words, a row a fact and a column a word. What is stored of a fact are the numbers of its words, cut to
   half, then as many masks of sentences; `many` tells how many words each has. `table` is zero before. */
EXPORTED int64_t sentences_of_words(const char *stored, const int64_t *many, int64_t facts, const int32_t *wanted,
                                    int64_t words, int64_t *table) {
    for (int64_t fact = 0; fact < facts; fact++, table += words) {
        for (int64_t at = 0; at < many[fact]; at++) {
            int32_t number;
            memcpy(&number, stored + 4 * at, sizeof number);
            for (int64_t word = 0; word < words; word++) {
                if (wanted[word] != number) continue;
                uint32_t sentences;
                memcpy(&sentences, stored + 4 * (many[fact] + at), sizeof sentences);
                table[word] = sentences;
            }
        }
        stored += 8 * many[fact];
    }
    return facts;
}
