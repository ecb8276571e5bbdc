/* live_blocks.h: PyTorch's live blocks, kept in the process itself, for questions that Python asks
 * while the program runs.
 *
 * Off until the first question; then each block is in a table by address, with its size, device and
 * phase, and sums are kept by device and phase. An event costs two or three locked instructions.
 * Any thread may call anything here; a forked child continues with a copy. No thread waits longer
 * than a second, once for each lock.
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

/* Device numbers: the host, then CUDA's by ordinal. */
#define ML_LIVE_HOST 0
#define ML_LIVE_CUDA(ordinal) (1 + (unsigned)(ordinal))
#define ML_LIVE_DEVICES ML_LIVE_CUDA(ML_CUDA_DEVICES_MAX)

struct ml_live_block {
    uint64_t address;
    uint64_t bytes;
    unsigned device;
    unsigned phase;     /* enum ml_phase, when it was allocated or as set since */
    unsigned recording; /* the recording whose trace has its allocation (ml_recording); 0: none */
};

/* A hook reads this first, and does nothing else while it is 0. */
extern _Atomic uint32_t ml_live_on;

/* Who needs the table: the program, which asks questions and keeps it on for good, or `memledger
 * attach` for as long as it records. */
enum ml_live_user { ML_LIVE_PROGRAM = 1, ML_LIVE_ATTACH = 2 };

/* The table is empty if it was off. @return whether it is on; false: there is no memory */
bool ml_live_switch_on(enum ml_live_user user);

/* That user no longer needs it. Blocks that are allocated or freed until the next user comes are
 * not seen. @return whether this has switched the table off */
bool ml_live_switch_off(enum ml_live_user user);

/* A block was allocated. `space`: the space in which this thread has just recorded its allocation;
 * 0: none. */
void ml_live_add(uint32_t space, unsigned device, const void *p, uint64_t bytes);

/* Between the two, frees of unknown blocks are remembered: another thread may free a block after
 * it was found and before it is seeded. One thread at a time; begin before the blocks are listed.
 */
void ml_live_seed_begin(void);
void ml_live_seed_end(void);

/* Adds a block that is older than the table. Does nothing if it is known, or was freed since
 * ml_live_seed_begin.
 * @return whether it was new */
bool ml_live_seed(unsigned device, uint64_t address, uint64_t bytes);

/* A block is freed. @return the recording that its free belongs to (ml_record_in), the one that has
 * its allocation; 0: none */
uint32_t ml_live_remove(const void *p);

bool ml_live_block_find(uint64_t address, struct ml_live_block *ret);

/* Changes the block's phase; does nothing if there is no block. */
void ml_live_rephase(uint64_t address, enum ml_phase phase);

/* Live bytes; of all phases for ML_PHASES. */
uint64_t ml_live_bytes(unsigned device, unsigned phase);

/* The highest value since the start or the last reset. */
uint64_t ml_live_peak(unsigned device);
void ml_live_reset_peak(unsigned device);

/* Calls `tell` for each block that the trace of `recording` lacks, and marks it as present. No
 * other thread changes the tables meanwhile. */
void ml_live_tell(unsigned recording, void (*tell)(const struct ml_live_block *));

/* The number of events that were not entered: no memory, a signal handler inside the table, or a
 * thread that held it too long, for example to fork. The trace's health counts them too. */
uint64_t ml_live_missed(void);

#endif
