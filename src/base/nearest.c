/* nearest.c: see nearest.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "nearest.h"

#include <stdint.h>
#include <string.h>

#define WORD_MAX 64 /* longer words are not compared */

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Edits (insert, delete, replace, swap neighbours) that turn a into b. Both are
 * at most WORD_MAX long. */
static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    uint8_t rows[3][WORD_MAX + 1];
    uint8_t *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= b_len; j++)
        last[j] = (uint8_t)j;
    for (size_t i = 1; i <= a_len; i++) {
        uint8_t *spare = before;

        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t edits =
                min3(last[j] + 1u, row[j - 1] + 1u, last[j - 1] + (size_t)(a[i - 1] != b[j - 1]));

            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1u < edits)
                edits = before[j - 2] + 1u;
            row[j] = (uint8_t)edits;
        }
        before = last;
        last = row;
        row = spare;
    }
    return last[b_len];
}

bool ml_nearest_offer(struct ml_nearest *nearest, const char *word)
{
    size_t typed_len = strnlen(nearest->typed, WORD_MAX + 1);
    size_t word_len = strnlen(word, WORD_MAX + 1);
    size_t distance, allowed = typed_len / 3 > 1 ? typed_len / 3 : 1;

    if (typed_len > WORD_MAX || word_len > WORD_MAX || typed_len == 0)
        return false;
    distance = edit_distance(nearest->typed, typed_len, word, word_len);
    if (strncmp(nearest->typed, word, typed_len) == 0)
        distance = 0; /* the typed word is a prefix */
    if (distance > allowed || (nearest->word && distance >= nearest->distance))
        return false;
    nearest->word = word;
    nearest->distance = distance;
    return true;
}
