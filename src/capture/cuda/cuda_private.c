/* cuda_private.c: see cuda_private.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_private.h"

#define DEPTH_MAX 8

__thread uint32_t ml_cuda_private_label;

static __thread uint32_t outer[DEPTH_MAX];
static __thread unsigned depth;

void ml_cuda_enter_private(uint32_t label)
{
    if (depth < DEPTH_MAX)
        outer[depth] = ml_cuda_private_label;
    depth++;
    ml_cuda_private_label = label;
}

void ml_cuda_leave_private(void)
{
    if (depth == 0)
        return;
    depth--;
    ml_cuda_private_label = depth < DEPTH_MAX ? outer[depth] : 0;
}
