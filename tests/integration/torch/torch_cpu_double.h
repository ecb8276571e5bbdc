/* torch_cpu_double.h: PyTorch's autograd as far as runs_nodes.c needs it: a test double, which
 * the recorder finds by the name of its library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TORCH_CPU_DOUBLE_H
#define TORCH_CPU_DOUBLE_H

#include <stdint.h>

#pragma GCC visibility push(default)

uint64_t peek(void) __asm__("_ZN2at15sequence_number4peekEv");
uint64_t thread_id(void) __asm__("_ZN2at14RecordFunction15currentThreadIdEv");

/* Counts as a new node does. */
uint64_t next_number(void);

/* Engine::evaluate_function: calls what the node's vtable has first. */
void evaluate(void *engine, void *task, void *node, void *inputs, void *queue) __asm__(
    "_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_"
    "4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE");

#pragma GCC visibility pop

#endif
