/* live_blocks.h: PyTorch's blocks that are alive now, in the process itself, for
 * questions that Python asks while the program runs.
 *
 * Off until somebody asks; then each block is in a table by address, with its size,
 * device and phase, and sums are kept by device and phase. An event costs two or
 * three locked instructions. Any thread may call anything here; a forked child goes
 * on with a copy. Nobody waits for longer than a second, once for each lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LIVE_BLOCKS_H
#define ML_LIVE_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_nvml.h"
#include "current_phase.h"

/* Devices are numbered: the host, then CUDA's by ordinal. */
#define ML_LIVE_HOST 0
#define ML_LIVE_CUDA(ordinal) (1 + (unsigned)(ordinal))
#define ML_LIVE_DEVICES ML_LIVE_CUDA(ML_CUDA_DEVICES_MAX)

struct ml_live_block {
    uint64_t address;
    uint64_t bytes;
    unsigned device;
    unsigned phase;     /* enum ml_phase, when it was allocated or as it was set since */
    unsigned recording; /* whose trace has its allocation (ml_recording); 0: none */
};

/* What a hook looks at: nothing else is done while it is 0. */
extern _Atomic uint32_t ml_live_on;

/* Never off again. @return whether it is on: else there is no memory */
bool ml_live_switch_on(void);

/* A block was allocated. `space`: what its allocation was recorded in, by this thread and
 * just now; 0: nowhere. */
void ml_live_add(uint32_t space, unsigned device, const void *p, uint64_t bytes);

/* A block that was there before the table is. Nothing if it is known.
 * @return whether it was new */
bool ml_live_seed(unsigned device, uint64_t address, uint64_t bytes);

/* A block is given back. @return the recording that its free belongs into (ml_record_in),
 * the one that has its allocation; 0: none */
uint32_t ml_live_remove(const void *p);

bool ml_live_block_find(uint64_t address, struct ml_live_block *ret);

/* The block counts as of that phase from now on; nothing if there is none. */
void ml_live_rephase(uint64_t address, enum ml_phase phase);

/* Bytes alive now; of all phases for ML_PHASES. */
uint64_t ml_live_bytes(unsigned device, unsigned phase);

/* The most since the start or the last reset. */
uint64_t ml_live_peak(unsigned device);
void ml_live_reset_peak(unsigned device);

/* Calls `tell` for each block that the trace of `recording` lacks, which then has it.
 * No other thread comes between. */
void ml_live_tell(unsigned recording, void (*tell)(const struct ml_live_block *));

/* Events that were not booked: no memory, a signal handler inside the table, or a thread that
 * held it for too long, as while it forks. The trace's health counts them too. */
uint64_t ml_live_missed(void);

#endif
