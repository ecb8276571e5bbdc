/* leftovers.c: see leftovers.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "leftovers.h"

static const struct ml_replay_process *find(const struct ml_replay *r, uint32_t number)
{
    uint64_t index;

    return ml_map_get(&r->process_index, number, &index) ? &r->processes.items[index] : NULL;
}

static bool is_left_by(const struct ml_replay_process *p, uint64_t start_ns, uint64_t now_ns,
                       const struct ml_replay_process *ancestor)
{
    return ancestor && ancestor->ended && ancestor->bytes.peak_bytes > 0 &&
           p->bytes.peak_time_ns <= ancestor->end_ns && start_ns <= ancestor->end_ns &&
           now_ns >= ancestor->end_ns && now_ns - ancestor->end_ns < ancestor->end_ns - start_ns;
}

/* A parent has a lower number, which the reader has checked, so this ends. */
static bool is_leftover(const struct ml_replay *r, uint32_t process_number, uint64_t now_ns)
{
    const struct ml_replay_process *p = find(r, process_number);
    const struct ml_process *process = ml_trace_process(r->trace, process_number);
    uint64_t start_ns = process->start_ns;

    while (p && process->parent >= 0) {
        uint32_t parent = (uint32_t)process->parent;

        process = ml_trace_process(r->trace, parent);
        if (is_left_by(p, start_ns, now_ns, find(r, parent)))
            return true;
    }
    return false;
}

bool ml_replay_ends_program(const struct ml_replay *r, const struct ml_event *event, int64_t device)
{
    uint32_t process = (uint32_t)event->args[0];

    return ml_replay_had_memory(r, process, device) && !is_leftover(r, process, event->time_ns);
}

bool ml_replay_program_has_memory(const struct ml_replay *r, int64_t device, uint64_t now_ns)
{
    for (size_t i = 0; i < r->spaces.len; i++) {
        const struct ml_replay_space *space = &r->spaces.items[i];

        if (space->counted && !space->ended && space->bytes.live_bytes > 0 &&
            (device < 0 || space->device == device) &&
            !is_leftover(r, r->processes.items[space->process].number, now_ns))
            return true;
    }
    return false;
}
