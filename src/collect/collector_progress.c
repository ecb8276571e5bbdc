/* collector_progress.c: see collector_progress.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector_progress.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda_spaces.h"
#include "left_alone.h"
#include "proc_stat.h"

void ml_collector_introduce(struct ml_collector_id *id)
{
    uint32_t pid = (uint32_t)getpid();
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    struct ml_proc_stat stat;

    if (!ml_proc_stat_read(pid, tid, &stat))
        return;
    atomic_store(&id->start_ticks, stat.start_ticks);
    atomic_store(&id->pid_namespace, ml_proc_pid_namespace());
    atomic_store(&id->threads[0], tid);
    /* Pairs with ml_collector_state of the recorder. */
    atomic_store_explicit(&id->pid, pid, memory_order_release);
}

uint32_t ml_collector_running(const struct ml_collector *c)
{
    uint32_t n = 0;

    for (size_t i = 0; i < c->stage.targets.len; i++)
        n += !c->stage.targets.items[i]->gone && !c->stage.targets.items[i]->dead;
    return n;
}

void ml_collector_publish(struct ml_collector *c)
{
    struct ml_session *page = c->session->page;
    uint64_t events = c->writer.written - c->writer.lent_events;

    for (int i = 0; i < ML_KIND_COUNT; i++)
        events += c->writer.counts.events[i];
    atomic_store_explicit(&page->events, events - ml_min_u64(events, c->stage.samples),
                          memory_order_relaxed);
    atomic_store_explicit(&page->refusals, c->stage.refusals, memory_order_relaxed);
    atomic_store_explicit(&page->samples, c->stage.samples, memory_order_relaxed);
    atomic_store_explicit(&page->own_events, c->stage.own_events, memory_order_relaxed);
    atomic_store_explicit(&page->file_bytes, c->writer.offset, memory_order_relaxed);
    atomic_store_explicit(&page->lost, c->stage.lost + c->writer.lost, memory_order_relaxed);
    atomic_store_explicit(&page->not_followed, c->stage.not_followed, memory_order_relaxed);
    atomic_store_explicit(&page->names_folded, c->stage.names_folded, memory_order_relaxed);
    atomic_store_explicit(&page->spaces_refused, c->stage.spaces_refused, memory_order_relaxed);
    atomic_store_explicit(&page->details_lost, c->stage.details_lost, memory_order_relaxed);
    atomic_store_explicit(&page->write_error, -c->writer.error, memory_order_relaxed);
    atomic_store_explicit(&page->running, ml_collector_running(c) + c->silent,
                          memory_order_relaxed);
}

static bool has_gpu_memory(const struct ml_dict *dict)
{
    for (size_t i = 0; i < dict->by_tag[ML_DEF_SPACE].len; i++) {
        const struct ml_def *space = &dict->by_tag[ML_DEF_SPACE].items[i];
        const char *device = ml_dict_text(dict, (uint32_t)space->fields[ML_SPACE_DEVICE]);

        if (strncmp(device, ML_CUDA_DEVICE_PREFIX, strlen(ML_CUDA_DEVICE_PREFIX)) == 0)
            return true;
    }
    return false;
}

void ml_collector_publish_end(struct ml_collector *c)
{
    ml_collector_publish(c);
    atomic_store(&c->session->page->gpu_memory, has_gpu_memory(&c->dict));
    /* Last. Pairs with ml_attach_finish. */
    atomic_store_explicit(&c->session->page->file_closed, 1, memory_order_release);
}

void ml_collector_note_left_alone(struct ml_collector *c)
{
    uint32_t said = atomic_load_explicit(&c->session->page->notices_said, memory_order_relaxed);

    for (int i = 0; i < ML_LEFT_COUNT; i++) {
        if (said & ~c->notices_kept & ml_left_alone[i].notice)
            ml_dict_config(&c->dict, ml_left_alone[i].setting, ML_LEFT_ALONE_VALUE);
    }
    c->notices_kept = said;
}
