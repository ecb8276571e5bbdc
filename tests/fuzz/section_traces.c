/* section_traces.c: see section_traces.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "section_traces.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memledger/memledger.h"
#include "trace_sample.h"

#define STEPS 7
#define LAYERS 3
#define MALLOCS 40
#define EVENT_NS 50 /* from one event to the next */

struct story {
    struct ml_maker *maker;
    uint64_t time_ns;
    uint32_t device, block, pool;
    uint32_t scopes[LAYERS];
};

static void tell(struct story *s, struct ml_event event)
{
    event.time_ns = s->time_ns += EVENT_NS;
    ml_maker_event(s->maker, &event);
}

static void define(struct story *s, const char *device)
{
    struct ml_maker *m = s->maker;

    s->device = ml_maker_string(m, device);
    ml_maker_process(m, 100, -1, ml_maker_string(m, "program"));
    ml_maker_thread(m, 0, 100, ml_maker_string(m, "main"));
    s->block = ml_maker_space(m, 0, s->device, MEMLEDGER_BLOCK, ml_maker_string(m, "blocks"));
}

/* ---- A training --------------------------------------------------------------- */

static void mark(struct story *s, enum memledger_mark_kind kind, uint64_t number, const char *name)
{
    tell(s, (struct ml_event){.kind = ML_MARK,
                              .args = {kind, number, name ? ml_maker_string(s->maker, name) : 0}});
}

static void run_layers(struct story *s, uint64_t step)
{
    mark(s, MEMLEDGER_MARK_PHASE, 0, "forward");
    for (uint32_t i = 0; i < LAYERS; i++)
        tell(s, (struct ml_event){.kind = ML_ALLOC,
                                  .space = s->block,
                                  .scope = s->scopes[i],
                                  .addr = 0x10000 + i * 0x1000,
                                  .size = 512 * (i + 1) + step % 2});
    mark(s, MEMLEDGER_MARK_PHASE, 0, "backward");
    for (uint32_t i = LAYERS; i-- > 0;)
        tell(s,
             (struct ml_event){.kind = ML_FREE, .space = s->block, .addr = 0x10000 + i * 0x1000});
}

static void run_step(struct story *s, uint64_t step)
{
    mark(s, MEMLEDGER_MARK_STEP, step, NULL);
    if (step % 3 == 0)
        tell(s, (struct ml_event){.kind = ML_ALLOC,
                                  .space = s->pool,
                                  .addr = 0x100000 * (step + 1),
                                  .size = 1 << 16});
    run_layers(s, step);
    tell(s, (struct ml_event){.kind = ML_SAMPLE,
                              .args = {s->device, 0x1f, step << 16, 1 << 24, 1 << 25, step << 10}});
    s->time_ns += step * EVENT_NS;
}

static void tell_training(struct story *s)
{
    struct ml_maker *m = s->maker;

    define(s, "cuda:0");
    s->pool = ml_maker_space(m, 0, s->device, MEMLEDGER_POOL, ml_maker_string(m, "pool"));
    for (uint32_t i = 0; i < LAYERS; i++)
        s->scopes[i] = ml_maker_scope(m, i ? s->scopes[0] : 0, MEMLEDGER_SCOPE_MODULE,
                                      ml_maker_string(m, i ? "layer" : "model"));
    tell(s,
         (struct ml_event){
             .kind = ML_ALLOC, .space = s->block, .scope = s->scopes[1], .addr = 64, .size = 4096});
    tell(s, (struct ml_event){.kind = ML_LABEL,
                              .space = s->block,
                              .addr = 64,
                              .args = {ml_maker_string(m, "weight"), MEMLEDGER_PARAMETER}});
    for (uint64_t step = 1; step <= STEPS; step++)
        run_step(s, step);
    tell(s, (struct ml_event){.kind = ML_MARKER, .args = {0, ml_maker_string(m, "saved")}});
    tell(s, (struct ml_event){.kind = ML_OOM, .space = s->block, .size = 1u << 30});
    tell(s, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
}

/* ---- A program without names ---------------------------------------------------- */

static void tell_malloc(struct story *s)
{
    define(s, "cpu");
    for (uint64_t i = 0; i < MALLOCS; i++) {
        tell(s, (struct ml_event){
                    .kind = ML_ALLOC, .space = s->block, .addr = 4096 * i, .size = 100 + i % 5});
        if (i % 4 == 3)
            tell(s, (struct ml_event){.kind = ML_FREE, .space = s->block, .addr = 4096 * (i / 2)});
    }
}

/* ---- Interface ---------------------------------------------------------------------- */

static int make(enum section_trace which, struct ml_buf *ret)
{
    const struct ml_maker_opts opts = {.block_events = 8};
    int r, fd = memfd_create("trace", MFD_CLOEXEC);
    struct story story = {.maker = fd < 0 ? NULL : ml_maker_on_fd(fd, &opts)};

    if (!story.maker)
        return -ENOMEM;
    if (which == SECTION_TRAINING)
        tell_training(&story);
    else
        tell_malloc(&story);
    r = ml_maker_close(story.maker);
    if (r == 0)
        r = ml_bytes_of_fd(fd, ret);
    close(fd);
    return r;
}

int section_trace_open(enum section_trace which, struct ml_trace **ret)
{
    struct ml_buf bytes = {0};
    int r = which == SECTION_SAMPLE ? ml_sample_make(NULL, &bytes) : make(which, &bytes);

    if (r == 0)
        r = ml_bytes_open(bytes.data, bytes.len, false, ret, NULL);
    ml_buf_release(&bytes);
    return r;
}

enum section_trace section_trace_of(const struct ml_trace *sections)
{
    return (enum section_trace)(ml_trace_info(sections)->start_wall_ns % SECTION_TRACES);
}
