/* trace_maker.h: writes valid traces without a collector, for tests and benches.
 *
 * Define names, add events, close; blocks, index and trailer come by themselves:
 *
 *     struct ml_maker *m = ml_maker_create("t.mled", NULL);
 *     uint32_t name = ml_maker_string(m, "encoder");
 *     ml_maker_scope(m, 0, MEMLEDGER_SCOPE_MODULE, name);
 *     ml_maker_event(m, &(struct ml_event){.kind = ML_ALLOC, .addr = 4096, .size = 64});
 *     r = ml_maker_close(m);
 *
 * The first error is kept: later calls do nothing, and ml_maker_close returns it. A NULL maker
 * (out of memory, or no file) is accepted everywhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_TRACE_MAKER_H
#define ML_TEST_TRACE_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"
#include "defs.h"
#include "event.h"

struct ml_maker;

/* All zero is: full blocks, zstd level 1, with index and trailer. */
struct ml_maker_opts {
    uint32_t block_events; /* events in a block before the next begins; 0: as many as fit */
    int zstd_level;        /* 0: 1 */
    bool stored;           /* do not compress */
    bool no_index;         /* end like a recorder that was killed */
    uint64_t start_wall_ns;
};

/* Write to a new file, or to a descriptor that stays the caller's.
 * @opts   may be NULL
 * @return NULL on failure, with errno set */
struct ml_maker *ml_maker_create(const char *path, const struct ml_maker_opts *opts);
struct ml_maker *ml_maker_on_fd(int fd, const struct ml_maker_opts *opts);

/* Write what is pending, then index and trailer, and free the maker.
 * @return 0, or the first failure of any call as a negative errno */
int ml_maker_close(struct ml_maker *m);

/* Define something. @return its number */
uint32_t ml_maker_string(struct ml_maker *m, const char *text);
uint32_t ml_maker_bytes(struct ml_maker *m, const void *bytes, uint32_t len);
uint32_t ml_maker_process(struct ml_maker *m, uint32_t pid, int64_t parent, uint32_t command);
uint32_t ml_maker_thread(struct ml_maker *m, uint32_t process, uint32_t tid, uint32_t name);
uint32_t ml_maker_space(struct ml_maker *m, uint32_t process, uint32_t device, uint32_t level,
                        uint32_t name);
uint32_t ml_maker_scope(struct ml_maker *m, uint32_t parent, uint32_t kind, uint32_t name);
uint32_t ml_maker_class_scope(struct ml_maker *m, uint32_t parent, uint32_t kind, uint32_t name,
                              uint32_t class_name);
uint32_t ml_maker_object(struct ml_maker *m, uint32_t process, uint32_t kind, int64_t domain,
                         uint32_t name);

uint32_t ml_maker_library(struct ml_maker *m, uint32_t process, uint64_t base, uint64_t end,
                          const char *path, const char *build_id);
/* A native frame; library -1: none is known. */
uint32_t ml_maker_frame(struct ml_maker *m, int64_t library, uint64_t address);
uint32_t ml_maker_python_frame(struct ml_maker *m, const char *function, const char *file,
                               uint32_t line);
uint32_t ml_maker_stack(struct ml_maker *m, uint32_t caller, uint32_t frame);
void ml_maker_symbol(struct ml_maker *m, uint32_t frame, const char *function);

/* A setting of the run; defines both strings. */
void ml_maker_setting(struct ml_maker *m, const char *key, const char *value);

/* Any record, as it is: also one that a reader must refuse. */
void ml_maker_def(struct ml_maker *m, const struct ml_def *def);

/* Events in time order. */
void ml_maker_event(struct ml_maker *m, const struct ml_event *ev);

/* End the block: what comes next begins another. */
void ml_maker_flush(struct ml_maker *m);

/* A block of any contents, after what is pending. Of `h` only type, times and
 * events are used. */
void ml_maker_block(struct ml_maker *m, const struct ml_block_header *h, const void *raw,
                    size_t raw_bytes);

#endif
