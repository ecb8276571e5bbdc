/* cuda_attach.h: a recording of the CUDA driver that begins while the process runs.
 *
 * The program has found the driver's functions, and has contexts, code and memory. The memory of an
 * allocator that can be asked (PyTorch's segments), of pools and of graphs gets entries as in a
 * recording from the start. The rest cannot be listed: what NVML charges beyond all entries is one
 * entry of its own, "before". It shrinks when a call gives older memory back.
 *
 *     prepare   before the recording: the program's calls lead through the hooks
 *     begin     the recording has begun
 *               (ml_cuda_older_block: any number of older allocations)
 *     adopt     the rest; waits for a moment without a call under way
 *     say_last  before the recording ends: the last figures
 *     end       after it; also after a failure
 *
 * One thread at a time. Nothing here starts the driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_ATTACH_H
#define ML_CUDA_ATTACH_H

void ml_cuda_attach_prepare(void);
void ml_cuda_attach_begin(void);
void ml_cuda_attach_adopt(void);
void ml_cuda_attach_say_last(void);
void ml_cuda_attach_end(void);

#endif
