/* header_user.c: all of memledger.h in C and in C++, in one file that any compiler must accept
 * without a warning, and that does nothing without a recorder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "memledger/memledger.h"
#include "memledger/memledger.h" /* twice is once */

static int block_memory[16];

static int reports(void)
{
    memledger_space space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "header");
    struct memledger_alloc_info info = {0, 0, 0, 0, 0};

    info.struct_bytes = sizeof(info);
    info.ptr = block_memory;
    info.bytes = sizeof(block_memory);
    memledger_alloc(space, block_memory, sizeof(block_memory));
    memledger_label(space, block_memory, "label", MEMLEDGER_OPTIMIZER_STATE);
    memledger_resize(space, block_memory, block_memory, 8);
    memledger_free(space, block_memory);
    memledger_alloc_ex(space, &info);
    memledger_free_range(space, block_memory, sizeof(block_memory));
    memledger_push("scope");
    memledger_push_kind(MEMLEDGER_SCOPE_MODULE, "module");
    memledger_pop();
    memledger_pop();
    memledger_step(1);
    memledger_epoch(2);
    memledger_phase("backward");
    return !memledger_active() == !space ? 0 : 10;
}

static int control(void)
{
    const char *keys[] = {"aggregate_stats"};
    const char *values[] = {"true"};
    const char *text = 0;
    int r = 0;

    r |= memledger_set_config(1, keys, values);
    r |= memledger_set_state(MEMLEDGER_RUN);
    r |= memledger_set_process_state(MEMLEDGER_RUN, MEMLEDGER_WORKER);
    r |= memledger_pause();
    r |= memledger_resume();
    r |= memledger_pause_process(0, MEMLEDGER_WORKER);
    r |= memledger_stats(&text, 0, MEMLEDGER_TABLE, MEMLEDGER_BY_AVG, 1);
    r |= memledger_set_state(MEMLEDGER_STOP);
    r |= memledger_dump(1);
    r |= memledger_dump_process(1, MEMLEDGER_WORKER);
    return !r && text && memledger_last_error() ? 0 : 11;
}

static int objects(void)
{
    memledger_object domain = memledger_domain("domain");
    memledger_object task = memledger_task(domain, "task");
    memledger_object frame = memledger_frame(domain, "frame");
    memledger_object event = memledger_event("event");
    memledger_object counter = memledger_counter(domain, "counter");
    int r = 0;

    r |= memledger_start(task) | memledger_stop(task);
    r |= memledger_start(frame) | memledger_stop(frame);
    r |= memledger_start(event) | memledger_stop(event);
    r |= memledger_counter_set(counter, 1) | memledger_counter_adjust(counter, -1);
    r |= memledger_marker(domain, "marker", "process");
    r |= memledger_destroy(task);
    return r ? 12 : 0;
}

int main(void)
{
    int r = reports();

    if (!r)
        r = control();
    if (!r)
        r = objects();
    return r;
}
