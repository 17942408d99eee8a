/* Evidence: facts with the turns around them as rows, which words each holds, and in which sentences. The twin of gathered in
   stores/index/looking.py and of places_of in stores/index/terms.py. */

#include "postings.h"

/* Who is looked for among many more is looked for one by one. */
#define MANY_MORE 16

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
