/* eval_loop.h: where the code of an interpreter is that runs Python functions. A native frame in it
 * stands for one or several Python frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EVAL_LOOP_H
#define ML_EVAL_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

struct ml_eval_range {
    uint64_t begin, end; /* in the file's numbering */
};

struct ml_eval_loop {
    ML_VEC(struct ml_eval_range) ranges; /* few */
};

/* Reads the symbol tables of an executable or library. A file that is not here, or has none, gives
 * no ranges. */
void ml_eval_loop_read(struct ml_eval_loop *loop, const char *path);
void ml_eval_loop_release(struct ml_eval_loop *loop);

bool ml_eval_loop_has(const struct ml_eval_loop *loop, uint64_t address);

#endif
