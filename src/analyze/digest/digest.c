/* digest.c: see digest.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "digest.h"

#include <string.h>

static void release_rank(struct ml_digest_rank *rank)
{
    ml_vec_release(&rank->devices);
    ml_vec_release(&rank->rows);
    ml_vec_release(&rank->cells);
    ml_vec_release(&rank->values);
    ml_vec_release(&rank->curve);
}

void ml_digest_release(struct ml_digest *digest)
{
    for (size_t i = 0; i < digest->ranks.len; i++)
        release_rank(&digest->ranks.items[i]);
    for (size_t i = 0; i < digest->books.len; i++)
        ml_vec_release(&digest->books.items[i].entries);
    ml_vec_release(&digest->ranks);
    ml_vec_release(&digest->books);
    ml_vec_release(&digest->modules);
    ml_vec_release(&digest->settings);
    ml_arena_release(&digest->arena);
    *digest = (struct ml_digest){0};
}

/* Row `to` becomes rows `first` and, if there is one, the next. */
static void join_rows(struct ml_digest_rank *rank, size_t to, size_t first)
{
    struct ml_digest_row *rows = rank->rows.items;
    size_t second = first + 1 < rank->rows.len ? first + 1 : first;
    size_t higher = rows[second].peak_bytes > rows[first].peak_bytes ? second : first;
    uint64_t begin_ns = rows[first].begin_ns;

    memmove(rank->values.items + (1 + to) * rank->cells.len, ml_digest_values(rank, 1 + higher),
            rank->cells.len * sizeof(uint64_t));
    rows[to] = (struct ml_digest_row){rows[higher].number, begin_ns, rows[second].end_ns,
                                      rows[higher].peak_bytes, rows[second].end_bytes};
}

void ml_digest_rank_halve(struct ml_digest_rank *rank)
{
    size_t rows = (rank->rows.len + 1) / 2;

    for (size_t i = 0; i < rows; i++)
        join_rows(rank, i, 2 * i);
    rank->rows.len = rows;
    rank->values.len = rank->cells.len * (1 + rows);
    rank->steps_per_row *= 2;
}
