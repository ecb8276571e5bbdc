/* inject_stub.h: the code that is copied into another process, and the memory that it works with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_INJECT_STUB_H
#define ML_INJECT_STUB_H

#include <stddef.h>
#include <stdint.h>

#include "target_symbols.h"

#define ML_INJECT_TEXT_ROOM 1024

/* The memory that the new thread works with; the code knows the offsets. */
struct ml_inject_job {
    uint64_t functions[ML_TARGET_FUNCTIONS];
    uint64_t library, function, argument; /* addresses of the texts */
    int32_t value;
    _Atomic uint32_t
        done;          /* 1: value is valid, 2: cannot load, 3: no such function, 4: called off */
    char error[256];   /* what dlerror said */
    uint64_t way_back; /* stack pointer of the borrowed thread for its last call */
    uint64_t thread;   /* that pthread_create has made */
    int32_t created;   /* what it returned */
    char texts[3][ML_INJECT_TEXT_ROOM];
};

#define ML_INJECT_JOB_AT(field) offsetof(struct ml_inject_job, field)
#define ML_INJECT_CALLED_OFF 4

/* Position-independent code, copied into the process. The first part is for the borrowed thread,
 * with a job as its argument: it starts another thread, keeps errno, and goes back to its own work
 * as at the end of a signal handler. The second is void *entry(struct ml_inject_job *), for
 * that thread. */
extern const unsigned char ml_inject_stub[], ml_inject_stub_end[], ml_inject_back[],
    ml_inject_entry[];

#endif
