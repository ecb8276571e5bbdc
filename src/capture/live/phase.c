/* phase.c: see phase.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "phase.h"

__thread uint8_t ml_thread_phase;
_Atomic uint8_t ml_process_phase;
