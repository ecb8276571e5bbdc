/* chrome_entities.h: the processes, threads and objects of a Chrome trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CHROME_ENTITIES_H
#define ML_CHROME_ENTITIES_H

#include "chrome_event.h"
#include "import_sink.h"

struct ml_chrome_thread {
    uint32_t process, thread; /* numbers in the trace */
    uint32_t scope;           /* while events are sorted: the innermost open one … */
    uint32_t depth;           /* … and how many are open */
};

struct ml_chrome_entities {
    struct ml_import_sink *sink;
    bool one_process; /* pid is a category, as in MXNet's traces */
    struct ml_intern process_keys, thread_keys, object_keys;
    ML_VEC(uint32_t) processes;
    ML_VEC(struct ml_chrome_thread) threads; /* by number */
    ML_VEC(uint32_t) objects;
    struct ml_buf key;
    int error; /* the first failure */
};

void ml_chrome_entities_init(struct ml_chrome_entities *w, struct ml_import_sink *sink);
void ml_chrome_entities_release(struct ml_chrome_entities *w);

/* The thread of an event, created on first use. */
struct ml_chrome_thread ml_chrome_thread_of(struct ml_chrome_entities *w,
                                            const struct ml_chrome_event *e);

/* Sets a process's name, which the file gives as an event. */
void ml_chrome_name_process(struct ml_chrome_entities *w, const struct ml_chrome_event *e);

/* The number of a process's domain + 1, as objects store it; 0 for the empty name. */
uint32_t ml_chrome_domain(struct ml_chrome_entities *w, uint32_t process, struct ml_slice name);

/* An object: one for each thread, or for each `id`, so that starts and stops match.
 * @kind    enum memledger_object_kind
 * @domain  + 1, 0: none */
uint32_t ml_chrome_object(struct ml_chrome_entities *w, uint32_t process, uint32_t kind,
                          uint32_t domain, struct ml_slice name, uint32_t thread,
                          struct ml_slice id);

#endif
