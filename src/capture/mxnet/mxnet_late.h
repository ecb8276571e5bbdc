/* mxnet_late.h: MXNet in a process that the recorder was loaded into late.
 *
 * Such a process may be recorded several times, and its threads run on meanwhile. A block whose
 * allocation is in one recording has its free there or nowhere; a trace that lost no event has no
 * free without its allocation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_LATE_H
#define ML_MXNET_LATE_H

#include <stdbool.h>
#include <stdint.h>

/* Points MXNet's library at the hooks that it finds without help in a preloaded process. May be
 * called again. Keeps errno. @return whether MXNet is loaded */
bool ml_mxnet_patch(void);

/* Blocks of MXNet's storage, and the memory that its pools take from the system. */
enum ml_mxnet_level { ML_MXNET_BLOCK, ML_MXNET_SEGMENT, ML_MXNET_LEVELS };

/* Precondition: the allocation was this thread's last record. */
void ml_mxnet_late_birth(enum ml_mxnet_level level, const void *memory);

/* Whether the current recording has the allocation. Precondition: it began late. */
bool ml_mxnet_late_has(enum ml_mxnet_level level, const void *memory);

/* @return the recording that the free belongs to (ml_record_in); 0: none */
uint32_t ml_mxnet_late_end(enum ml_mxnet_level level, const void *memory);

#endif
