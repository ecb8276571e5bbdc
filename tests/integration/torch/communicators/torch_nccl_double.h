/* torch_nccl_double.h: see torch_nccl_double.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TORCH_NCCL_DOUBLE_H
#define TORCH_NCCL_DOUBLE_H

#pragma GCC visibility push(default)
/* The configuration of the group for which use_communicators() splits a communicator off. */
const void *config_of_part(void);

/* @return the sum of what the calls return: 0 */
int use_communicators(void);
#pragma GCC visibility pop

#endif
