/* gemm.c: blocked matrix product. A task owns a block of c; for each slice of
 * the depth it packs its part of b into strips of eight columns that stay in
 * cache while the rows of a go by.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gemm.h"

#include "vec4.h"

enum {
    TILE_ROWS = 4,
    TILE_COLS = 2 * VEC4,
    BLOCK_ROWS = 64,
    BLOCK_COLS = 64,
    BLOCK_DEPTH = 256,
};

struct gemm_job {
    size_t rows, cols, depth;
    const float *a, *b;
    float *c;
};

/* The part of c that a task owns, and its current slice of the depth. */
struct gemm_block {
    size_t row, row_end;
    size_t col, col_end;
    size_t depth, depth_end;
};

typedef float gemm_strips[BLOCK_COLS / TILE_COLS][BLOCK_DEPTH][TILE_COLS];

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Columns beyond the matrix are filled with zeros: the tile needs no test. */
static void pack(const struct gemm_job *job, const struct gemm_block *block, gemm_strips strips)
{
    for (size_t col = block->col; col < block->col_end; col += TILE_COLS) {
        float(*strip)[TILE_COLS] = strips[(col - block->col) / TILE_COLS];
        size_t width = min(TILE_COLS, block->col_end - col);

        for (size_t k = block->depth; k < block->depth_end; k++, strip++) {
            memset(*strip, 0, sizeof(*strip));
            memcpy(*strip, job->b + k * job->cols + col, width * sizeof(float));
        }
    }
}

static void multiply_tile(const float *a, size_t a_stride, const float (*strip)[TILE_COLS],
                          size_t depth, float result[TILE_ROWS][TILE_COLS])
{
    vec4 sum[TILE_ROWS][2] = {{{0}}};

    for (size_t k = 0; k < depth; k++) {
        vec4 low = vec4_load(strip[k]);
        vec4 high = vec4_load(strip[k] + VEC4);

        for (size_t r = 0; r < TILE_ROWS; r++) {
            sum[r][0] += low * a[r * a_stride + k];
            sum[r][1] += high * a[r * a_stride + k];
        }
    }
    memcpy(result, sum, sizeof(sum));
}

static void add_tile(const struct gemm_job *job, const struct gemm_block *block, size_t row,
                     size_t col, const float (*strip)[TILE_COLS])
{
    size_t width = min(TILE_COLS, block->col_end - col);
    float result[TILE_ROWS][TILE_COLS];

    multiply_tile(job->a + row * job->depth + block->depth, job->depth, strip,
                  block->depth_end - block->depth, result);
    for (size_t r = 0; r < TILE_ROWS; r++)
        for (size_t i = 0; i < width; i++)
            job->c[(row + r) * job->cols + col + i] += result[r][i];
}

static void clear(const struct gemm_job *job, const struct gemm_block *block)
{
    for (size_t row = block->row; row < block->row_end; row++)
        memset(job->c + row * job->cols + block->col, 0,
               (block->col_end - block->col) * sizeof(float));
}

static void multiply_block(const void *arg, size_t index)
{
    const struct gemm_job *job = arg;
    size_t across = (job->cols + BLOCK_COLS - 1) / BLOCK_COLS;
    struct gemm_block block = {
        .row = index / across * BLOCK_ROWS,
        .col = index % across * BLOCK_COLS,
    };
    gemm_strips strips;

    block.row_end = min(block.row + BLOCK_ROWS, job->rows);
    block.col_end = min(block.col + BLOCK_COLS, job->cols);
    clear(job, &block);
    for (; block.depth < job->depth; block.depth += BLOCK_DEPTH) {
        block.depth_end = min(block.depth + BLOCK_DEPTH, job->depth);
        pack(job, &block, strips);
        for (size_t row = block.row; row < block.row_end; row += TILE_ROWS)
            for (size_t col = block.col; col < block.col_end; col += TILE_COLS)
                add_tile(job, &block, row, col,
                         (const float(*)[TILE_COLS])strips[(col - block.col) / TILE_COLS]);
    }
}

void gemm(struct workers *workers, size_t rows, size_t cols, size_t depth, const float *a,
          const float *b, float *c)
{
    struct gemm_job job = {.rows = rows, .cols = cols, .depth = depth, .a = a, .b = b, .c = c};
    size_t down = (rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    size_t across = (cols + BLOCK_COLS - 1) / BLOCK_COLS;

    workers_run(workers, down * across, multiply_block, &job);
}
