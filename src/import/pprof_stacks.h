/* pprof_stacks.h: locations of a pprof profile as stacks of a trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PPROF_STACKS_H
#define ML_PPROF_STACKS_H

#include "import_sink.h"
#include "pprof_profile.h"

struct ml_pprof_stacks {
    const struct ml_pprof_profile *profile;
    struct ml_import_sink *sink;
    uint32_t process;
    struct ml_map libraries; /* id of a mapping -> number */
    ML_VEC(uint64_t) ids;    /* of a sample's locations, the innermost first */
};

/* The stack of s->ids. @return 0 for none */
uint32_t ml_pprof_stack(struct ml_pprof_stacks *s);

void ml_pprof_stacks_release(struct ml_pprof_stacks *s);

#endif
