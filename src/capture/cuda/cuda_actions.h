/* cuda_actions.h: the effect of each action of cuda_call.h on the book.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_ACTIONS_H
#define ML_CUDA_ACTIONS_H

#include "cuda_call.h"
#include "cuda_state.h"

/* Which devices a call may change, besides those that its action names. */
enum ml_cuda_reach { ML_NO_DEVICE, ML_THIS_DEVICE, ML_ALL_DEVICES };

struct ml_cuda_plan {
    enum ml_cuda_reach reach;
    enum ml_cuda_space account; /* for the change there */
    bool underway;              /* it may change the memory of a device */
    bool frequent;              /* too frequent to wait for other processes */
    /* Whether this call may make an entry whose caller is of interest; NULL: never, unless it
     * reaches a device. Called without the lock: unwinding takes the loader's. */
    bool (*asks)(struct ml_cuda_state *book, struct ml_cuda_call *call);
    void (*begin)(struct ml_cuda_state *book, struct ml_cuda_call *call);
    void (*end)(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok, uint32_t stack);
};

/* By enum ml_cuda_action. */
extern const struct ml_cuda_plan ml_cuda_plans[ML_CUDA_ACTIONS];

#endif
