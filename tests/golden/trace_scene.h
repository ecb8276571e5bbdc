/* trace_scene.h: shared by the makers of the stored traces: a trace being written, and events
 * at its current time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_TRACE_SCENE_H
#define ML_TEST_TRACE_SCENE_H

#include <stdint.h>

#include "memledger/memledger.h"
#include "trace_maker.h"

#define MIB UINT64_C(1048576)
#define MS UINT64_C(1000000)
#define START_WALL UINT64_C(1767225600000000000) /* 2026-01-01 */

/* A trace being written, and where its events are. */
struct scene {
    struct ml_maker *m;
    uint64_t now_ns;
    uint32_t thread, scope;
    uint32_t heap, driver, segments, blocks, child_heap; /* spaces */
};

static inline void event(struct scene *s, uint64_t after_ns, struct ml_event e)
{
    s->now_ns += after_ns;
    e.time_ns = s->now_ns;
    e.thread = s->thread;
    e.scope = s->scope;
    ml_maker_event(s->m, &e);
}

static inline void alloc(struct scene *s, uint32_t space, uint64_t addr, uint64_t size)
{
    event(s, MS, (struct ml_event){.kind = ML_ALLOC, .space = space, .addr = addr, .size = size});
}

static inline void release(struct scene *s, uint32_t space, uint64_t addr)
{
    event(s, MS, (struct ml_event){.kind = ML_FREE, .space = space, .addr = addr});
}

static inline void label(struct scene *s, uint64_t addr, const char *name, uint64_t category)
{
    event(s, 1000,
          (struct ml_event){.kind = ML_LABEL,
                            .space = s->blocks,
                            .addr = addr,
                            .args = {ml_maker_string(s->m, name), category}});
}

static inline uint32_t text(struct scene *s, const char *string)
{
    return ml_maker_string(s->m, string);
}

static inline void push(struct scene *s, uint32_t scope)
{
    s->scope = scope;
    event(s, 1000, (struct ml_event){.kind = ML_PUSH});
}

static inline void pop(struct scene *s, uint32_t scope)
{
    s->scope = scope;
    event(s, 1000, (struct ml_event){.kind = ML_POP});
}

static inline void define_places(struct scene *s, const char *command)
{
    uint32_t parent, cpu = text(s, "cpu"), gpu = text(s, "cuda:0");

    ml_maker_setting(s->m, "version", "0.1.0");
    ml_maker_setting(s->m, "command", command);
    ml_maker_setting(s->m, "host", "workstation");
    parent = ml_maker_process(s->m, 4000, -1, text(s, command));
    ml_maker_process(s->m, 4010, parent, text(s, "python3 loader.py"));
    ml_maker_thread(s->m, 0, 4000, text(s, "train"));
    ml_maker_thread(s->m, 0, 4001, text(s, "autograd"));
    ml_maker_thread(s->m, 1, 4010, text(s, "loader"));
    s->heap = ml_maker_space(s->m, 0, cpu, MEMLEDGER_BLOCK, text(s, "malloc"));
    s->driver = ml_maker_space(s->m, 0, gpu, MEMLEDGER_DRIVER, text(s, "cuMemAlloc"));
    s->segments = ml_maker_space(s->m, 0, gpu, MEMLEDGER_POOL, text(s, "caching"));
    s->blocks = ml_maker_space(s->m, 0, gpu, MEMLEDGER_BLOCK, text(s, "tensor"));
    s->child_heap = ml_maker_space(s->m, 1, cpu, MEMLEDGER_BLOCK, text(s, "malloc"));
}

/* Write gpt.mled, mxnet.mled, leaky.mled and oom.mled there. @return 0 or negative errno, after a
 * message */
int ml_write_gpt(const char *directory);
int ml_write_mxnet(const char *directory);
int ml_write_leaky(const char *directory);
int ml_write_oom(const char *directory);

#endif
