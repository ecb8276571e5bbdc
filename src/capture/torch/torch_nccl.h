/* torch_nccl.h: names the communicators of NCCL, so that the memory which the driver gives to NCCL
 * has the label of the communicator that it is for.
 *
 * PyTorch's calls of NCCL are seen, if NCCL is a library of its own. A communicator is numbered in
 * the order in which the process makes them: "NCCL, communicator 0 (rank 1 of 8)". NCCL allocates
 * while it makes a communicator, and again when one is first used for a kind of collective.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_NCCL_H
#define ML_TORCH_NCCL_H

/* See ml_torch_slots_fill. */
void ml_torch_nccl_begin(void);

#endif
