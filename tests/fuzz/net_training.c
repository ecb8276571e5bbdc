/* net_training.c: see net_training.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net_training.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memledger/memledger.h"
#include "trace_maker.h"
#include "trace_sample.h"

#define STEPS 10u
#define LAYERS 3u
#define EVENT_NS 100u

struct story {
    struct ml_maker *maker;
    uint64_t time_ns;
    uint32_t space, scope, thread;
    uint32_t layers[LAYERS], operators[LAYERS], forward, backward, label;
};

static void tell(struct story *s, struct ml_event event)
{
    event.time_ns = s->time_ns += EVENT_NS;
    event.space = s->space;
    event.scope = s->scope;
    event.thread = s->thread;
    ml_maker_event(s->maker, &event);
}

static void define(struct story *s, enum net_training which)
{
    struct ml_maker *m = s->maker;
    bool gpu = which == NET_TRAINING_GPU;

    ml_maker_process(m, 100, -1, ml_maker_string(m, "program"));
    ml_maker_thread(m, 0, 100, ml_maker_string(m, "main"));
    ml_maker_thread(m, 0, 101, ml_maker_string(m, "backward"));
    s->space = ml_maker_space(m, 0, ml_maker_string(m, gpu ? "cuda:0" : "cpu"), MEMLEDGER_BLOCK,
                              ml_maker_string(m, gpu ? ML_TORCH_SPACE_NAME : ML_HEAP_SPACE_NAME));
    s->forward = ml_maker_string(m, "forward");
    s->backward = ml_maker_string(m, "backward");
    s->label = ml_maker_string(m, "weight");
    for (uint32_t i = 0; i < LAYERS; i++) {
        s->layers[i] = ml_maker_scope(m, 0, MEMLEDGER_SCOPE_MODULE, ml_maker_string(m, "layer"));
        s->operators[i] =
            ml_maker_scope(m, s->layers[i], MEMLEDGER_SCOPE_OPERATOR, ml_maker_string(m, "matmul"));
    }
}

static void enter(struct story *s, uint32_t scope)
{
    s->scope = scope;
    tell(s, (struct ml_event){.kind = ML_PUSH});
}

static void leave_to(struct story *s, uint32_t scope)
{
    s->scope = scope;
    tell(s, (struct ml_event){.kind = ML_POP});
}

static void allocate(struct story *s, uint64_t addr, uint64_t size)
{
    tell(s, (struct ml_event){.kind = ML_ALLOC, .addr = addr, .size = size});
}

static void release(struct story *s, uint64_t addr)
{
    tell(s, (struct ml_event){.kind = ML_FREE, .addr = addr});
}

static void mark_phase(struct story *s, uint32_t phase)
{
    tell(s, (struct ml_event){.kind = ML_MARK, .args = {MEMLEDGER_MARK_PHASE, 0, phase}});
}

static void forward(struct story *s, uint64_t step)
{
    mark_phase(s, s->forward);
    for (uint64_t i = 0; i < LAYERS; i++) {
        enter(s, s->layers[i]);
        enter(s, s->operators[i]);
        allocate(s, 0x10000 + i * 0x1000, 512 + step);
        allocate(s, 0x20000, 64);
        release(s, 0x20000);
        leave_to(s, s->layers[i]);
        leave_to(s, 0);
    }
}

static void backward(struct story *s)
{
    mark_phase(s, s->backward);
    s->thread = 1;
    for (uint64_t i = LAYERS; i-- > 0;) {
        s->scope = s->layers[i]; /* a node: no push */
        allocate(s, 0x30000, 32);
        release(s, 0x30000);
        release(s, 0x10000 + i * 0x1000);
    }
    s->thread = s->scope = 0;
}

static void train(struct story *s)
{
    for (uint64_t step = 0; step < STEPS; step++) {
        tell(s, (struct ml_event){.kind = ML_MARK, .args = {MEMLEDGER_MARK_STEP, step}});
        allocate(s, 0x40000 + step * 0x1000, 128); /* never freed */
        if (step % 2)
            tell(s, (struct ml_event){.kind = ML_LABEL,
                                      .addr = 0x40000 + step / 2 * 0x1000,
                                      .args = {s->label, MEMLEDGER_PARAMETER}});
        forward(s, step);
        backward(s);
    }
}

int net_training_open(enum net_training which, struct ml_trace **ret)
{
    struct story s = {0};
    struct ml_buf bytes = {0};
    int fd = memfd_create("training", MFD_CLOEXEC), r;

    if (fd < 0)
        return -errno;
    s.maker = ml_maker_on_fd(fd, NULL);
    define(&s, which);
    train(&s);
    r = ml_maker_close(s.maker);
    if (r == 0)
        r = ml_bytes_of_fd(fd, &bytes);
    if (r == 0)
        r = ml_bytes_open(bytes.data, bytes.len, false, ret, NULL);
    ml_buf_release(&bytes);
    close(fd);
    return r;
}
