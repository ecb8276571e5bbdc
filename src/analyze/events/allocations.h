/* allocations.h: every allocation of a trace with its whole lifetime, one by one.
 *
 * They come in the order of their ends, never-freed ones last, so only the live table is in
 * memory. Categories are the final ones.
 *
 * A resize is an end and a new allocation, as in all reports; a failed one is neither. A block
 * that is freed in parts, such as a mapping, appears once for each part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_ALLOCATIONS_H
#define ML_ANALYZE_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "health.h"
#include "trace.h"

#define ML_NO_ORDINAL UINT64_MAX

/* Numbers are those of the trace's definitions. */
struct ml_allocation {
    uint64_t time_ns;
    uint64_t end_ns;  /* if it ended */
    uint64_t gone_ns; /* when it ended, or else its process; UINT64_MAX: neither did */
    uint64_t addr;
    uint64_t size;      /* at its allocation */
    uint64_t requested; /* by the program; the same if unknown */
    uint32_t space;
    uint32_t thread;
    uint32_t scope;
    uint32_t stack;
    uint32_t label;   /* string, 0: none */
    uint32_t phase;   /* string: the last mark of a phase in its process, 0: none */
    uint64_t ordinal; /* in the order of allocation; ML_NO_ORDINAL for a part of a block */
    uint64_t stream;  /* of the device, if known */
    uint8_t category;
    bool has_stream;
    bool ended;
    bool counted; /* part of the totals: see replay.h */
};

struct ml_allocations;

/* The trace must outlive it; the caller owns *ret. @return 0 or negative errno */
int ml_allocations_open(const struct ml_trace *trace, struct ml_allocations **ret,
                        struct ml_error *err);
void ml_allocations_free(struct ml_allocations *a);

/* The next batch, valid until the next call.
 * @return their number, 0 at the end, or negative errno */
int ml_allocations_next(struct ml_allocations *a, const struct ml_allocation **ret,
                        struct ml_error *err);

/* The health of the part of the trace that was read. */
struct ml_health ml_allocations_health(const struct ml_allocations *a);

#endif
