/* digest.h: the digest of a trace: the figures that a report on a whole job needs, in a few
 * kilobytes, so that a thousand ranks are read in seconds.
 *
 * A trace contains one rank if each has its own `memledger run`, and several if one command
 * recorded all ranks of a node. Processes belong to the rank that their launcher gave them, so
 * that a data loader counts for the rank that started it. A trace without ranks has one entry for
 * all its processes.
 *
 * Figures of a rank are those of its main device: the GPU with its highest peak, or the host.
 * Modules are folded to the deepest level of their tree that has at most ML_DIGEST_MODULES_MAX of
 * them: which ones does not depend on sizes, so that ranks of one program have the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_DIGEST_H
#define ML_ANALYZE_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "number_rows.h"
#include "summary.h"
#include "trace.h"
#include "vec.h"

#define ML_DIGEST_VERSION 1
#define ML_DIGEST_SUFFIX ".digest"
#define ML_DIGEST_MAX_BYTES 204800 /* of a file */

#define ML_DIGEST_MODULES_MAX 96
#define ML_DIGEST_ROWS_MAX 128
#define ML_DIGEST_COLUMNS 64 /* of the curve */
#define ML_DIGEST_ENTRIES_MAX 32

struct ml_digest_device {
    const char *name;
    uint64_t peak_bytes, peak_time_ns;
};

/* Several consecutive steps, or one. */
struct ml_digest_row {
    uint64_t number;   /* of its step with the highest peak, from the program */
    uint64_t begin_ns; /* of its first step */
    uint64_t end_ns;   /* of its last */
    uint64_t peak_bytes;
    uint64_t end_bytes; /* live at the end of its last step */
};

/* A column of the matrix: the live bytes of one category in one module. */
struct ml_digest_cell {
    uint32_t module; /* in ml_digest.modules */
    uint32_t category;
};

struct ml_digest_rank {
    uint32_t rank; /* 1 + its number in the job; 0: the trace has no ranks */
    const char *place, *command;
    uint32_t pid, processes;
    enum ml_ending ending; /* of its first process, which the others belong to */
    uint32_t exit_code, signal;
    uint64_t start_ns, end_ns;
    uint64_t ooms; /* allocations that were refused */
    uint64_t allocations;
    ML_VEC(struct ml_digest_device) devices; /* [0]: the main device; empty: no memory */
    uint64_t steps, steps_per_row;           /* the second is a power of two */
    ML_VEC(struct ml_digest_row) rows;
    ML_VEC(struct ml_digest_cell) cells;
    /* (1 + rows) × cells bytes: at the peak of the run, then at the peak of each row. */
    ml_numbers values;
    ml_numbers curve; /* the highest total in each of up to ML_DIGEST_COLUMNS parts of the run */
};

struct ml_digest_module {
    uint32_t parent;  /* index; 0 for an outermost one */
    const char *path; /* "encoder.layers.3"; "" for [0]: no module */
};

struct ml_digest_entry {
    const char *name;
    int64_t bytes;
};

/* The ledger of a device at its peak, its groups without what is in them. */
struct ml_digest_book {
    const char *device;
    bool sampled, has_total;
    uint64_t used_bytes, total_bytes;
    int64_t unexplained_bytes;
    ML_VEC(struct ml_digest_entry) entries;
};

struct ml_digest_setting {
    const char *key, *value;
};

struct ml_digest {
    struct ml_arena arena; /* all strings */
    const char *command, *host;
    uint64_t trace_bytes; /* the size of the trace, to recognise another one of that name */
    uint64_t start_wall_ns, end_ns, events;
    uint64_t lost;
    bool cut_short;
    uint64_t killed_at_limit_bytes; /* the kernel killed a process for it; 0: it did not */
    uint64_t memory_limit_bytes;    /* of the control group; 0: none, or not recorded */
    uint64_t heap_sampled_bytes;    /* between two samples of the heap on average; 0: all blocks */
    ML_VEC(struct ml_digest_setting) settings;
    ML_VEC(struct ml_digest_module) modules; /* [0]: none */
    ML_VEC(struct ml_digest_book) books;
    ML_VEC(struct ml_digest_rank) ranks;
};

/* A zeroed one may be released. */
void ml_digest_release(struct ml_digest *digest);

/* The matrix's row: 0 is the peak of the run, then the rows of steps. */
static inline const uint64_t *ml_digest_values(const struct ml_digest_rank *rank, size_t row)
{
    return rank->values.items + row * rank->cells.len;
}

/* Joins each two rows of a rank. The peak of the run stays as it is. */
void ml_digest_rank_halve(struct ml_digest_rank *rank);

/* The place of a rank contains "key=12": sets the number. @return whether it does */
bool ml_place_number(const char *place, const char *key, uint64_t *ret);

/* Visits the pairs of a place. Start with *at = place.
 * @return false at the end */
bool ml_place_next(const char **at, const char **ret_key, size_t *ret_key_len,
                   const char **ret_value, size_t *ret_value_len);

#endif
