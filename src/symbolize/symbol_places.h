/* symbol_places.h: the native frames of a trace by the file that contains their code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SYMBOL_PLACES_H
#define ML_SYMBOL_PLACES_H

#include "trace.h"
#include "vec.h"

/* A frame. The address is within the call, one byte before the return address. */
struct ml_symbol_place {
    const char *path, *build_id; /* of the trace */
    uint64_t address;            /* in the file's numbering */
    uint32_t frame;
    bool named;    /* the trace has its function */
    uint32_t file; /* number of the file, from 0 */
};

/* Places of one file, by address: the work of one process at a time. */
struct ml_symbol_job {
    uint32_t first, count;
};

struct ml_symbol_places {
    ML_VEC(struct ml_symbol_place) list; /* by file and address */
    ML_VEC(struct ml_symbol_job) jobs;
    uint32_t files;
};

/* @ret    to be released, after a failure too
 * @return 0 or -ENOMEM */
int ml_symbol_places(const struct ml_trace *trace, struct ml_symbol_places *ret);
void ml_symbol_places_release(struct ml_symbol_places *places);

#endif
