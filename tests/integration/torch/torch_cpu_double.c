/* torch_cpu_double.c: see torch_cpu_double.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_cpu_double.h"

static uint64_t numbers;

uint64_t peek(void)
{
    return numbers;
}

uint64_t thread_id(void)
{
    return 1;
}

uint64_t next_number(void)
{
    return numbers++;
}

void evaluate(void *engine, void *task, void *node, void *inputs, void *queue)
{
    void (*const *const *vtable)(void *) = node;

    (void)engine, (void)task, (void)inputs, (void)queue;
    (*vtable)[0](node);
}
