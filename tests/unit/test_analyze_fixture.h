/* test_analyze_fixture.h: a small trace, written event by event and opened, for
 * the tests of the analysis.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_ANALYZE_FIXTURE_H
#define ML_TEST_ANALYZE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "defs.h"
#include "memledger/memledger.h"
#include "trace_maker.h"
#include "trace_sample.h"

/* One process with one thread (both 0) and a block-level space on the device
 * "cpu". Events get the times 0, 10, 20, … unless they bring their own. */
struct fixture {
    int fd;
    struct ml_maker *maker;
    uint32_t driver, pool, block;
    uint64_t time_ns;
};

static inline struct fixture fixture_with(const struct ml_maker_opts *opts)
{
    struct fixture f = {.fd = memfd_create("trace", MFD_CLOEXEC)};
    uint32_t cpu;

    assert_true(f.fd >= 0);
    f.maker = ml_maker_on_fd(f.fd, opts);
    cpu = ml_maker_string(f.maker, "cpu");
    ml_maker_process(f.maker, 100, -1, ml_maker_string(f.maker, "program"));
    ml_maker_thread(f.maker, 0, 100, ml_maker_string(f.maker, "main"));
    f.block = ml_maker_space(f.maker, 0, cpu, MEMLEDGER_BLOCK, ml_maker_string(f.maker, "heap"));
    return f;
}

static inline struct fixture fixture_begin(void)
{
    return fixture_with(NULL);
}

/* Another block-level space of the same process and device. */
static inline uint32_t fixture_space(struct fixture *f, const char *name)
{
    return ml_maker_space(f->maker, 0, ml_maker_string(f->maker, "cpu"), MEMLEDGER_BLOCK,
                          ml_maker_string(f->maker, name));
}

/* What lies under the blocks; then only those are counted. */
static inline void fixture_nest(struct fixture *f)
{
    uint32_t cpu = ml_maker_string(f->maker, "cpu");

    f->pool = ml_maker_space(f->maker, 0, cpu, MEMLEDGER_POOL, ml_maker_string(f->maker, "pool"));
    f->driver =
        ml_maker_space(f->maker, 0, cpu, MEMLEDGER_DRIVER, ml_maker_string(f->maker, "mmap"));
}

static inline void fixture_event(struct fixture *f, struct ml_event event)
{
    if (event.time_ns > 0)
        f->time_ns = event.time_ns;
    event.time_ns = f->time_ns;
    ml_maker_event(f->maker, &event);
    f->time_ns += 10;
}

static inline void fixture_alloc(struct fixture *f, uint32_t space, uint64_t addr, uint64_t size)
{
    fixture_event(f,
                  (struct ml_event){.kind = ML_ALLOC, .space = space, .addr = addr, .size = size});
}

static inline void fixture_free(struct fixture *f, uint32_t space, uint64_t addr)
{
    fixture_event(f, (struct ml_event){.kind = ML_FREE, .space = space, .addr = addr});
}

static inline void fixture_free_range(struct fixture *f, uint32_t space, uint64_t addr,
                                      uint64_t size)
{
    fixture_event(
        f, (struct ml_event){.kind = ML_FREE_RANGE, .space = space, .addr = addr, .size = size});
}

static inline void fixture_label(struct fixture *f, uint32_t space, uint64_t addr, const char *name,
                                 int category)
{
    fixture_event(f,
                  (struct ml_event){.kind = ML_LABEL,
                                    .space = space,
                                    .addr = addr,
                                    .args = {ml_maker_string(f->maker, name), (uint64_t)category}});
}

/* A process of any kind. @return its number */
static inline uint32_t fixture_process(struct fixture *f, uint32_t number, uint32_t pid,
                                       int64_t parent, uint32_t how)
{
    ml_maker_def(f->maker, &(struct ml_def){.tag = ML_DEF_PROCESS,
                                            .id = number,
                                            .fields = {[ML_PROCESS_PID] = pid,
                                                       [ML_PROCESS_PARENT] = (uint64_t)(parent + 1),
                                                       [ML_PROCESS_HOW] = how}});
    return number;
}

static inline uint32_t fixture_space_of(struct fixture *f, uint32_t process)
{
    return ml_maker_space(f->maker, process, ml_maker_string(f->maker, "cpu"), MEMLEDGER_BLOCK,
                          ml_maker_string(f->maker, "heap"));
}

/* Closes the file and opens it as a trace, which the caller frees. */
static inline struct ml_trace *fixture_open(struct fixture *f)
{
    struct ml_error err = {0};
    struct ml_trace *trace = NULL;
    struct ml_buf bytes;

    ml_buf_init(&bytes);
    assert_int_equal(ml_maker_close(f->maker), 0);
    assert_int_equal(ml_bytes_of_fd(f->fd, &bytes), 0);
    if (ml_bytes_open(bytes.data, bytes.len, false, &trace, &err) < 0)
        fail_msg("%s", err.text);
    ml_buf_release(&bytes);
    close(f->fd);
    return trace;
}

#endif
