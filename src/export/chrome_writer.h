/* chrome_writer.h: a file of Chrome's trace events, which chrome://tracing and Perfetto open:
 * one JSON object, one event per line, written incrementally.
 *
 *     ml_chrome_begin(c, 'B', "encoder", "module", event->time_ns, who);
 *     ml_json_kv_u64(ml_chrome_args(c), "bytes", bytes);
 *     ml_chrome_end(c);
 *
 * The first failure is kept; ml_chrome_close returns it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_CHROME_WRITER_H
#define ML_EXPORT_CHROME_WRITER_H

#include "json.h"
#include "output_file.h"
#include "trace.h"

/* A process with this pid shows events of the machine rather than of one process; Linux has no
 * pid above 2^22. Threads that show the marks of a process are numbered likewise. */
#define ML_CHROME_MACHINE_PID 0x7fffff00u
#define ML_CHROME_STEPS_TID 0x7fffff01u
#define ML_CHROME_EPOCHS_TID 0x7fffff02u
#define ML_CHROME_PHASES_TID 0x7fffff03u

struct ml_chrome_track {
    uint32_t pid, tid;
};

struct ml_chrome {
    const struct ml_trace *trace;
    struct ml_output *out;
    struct ml_json json;
    bool in_args; /* of the event being written */
};

/* Writes the header before the events. */
void ml_chrome_open(struct ml_chrome *c, const struct ml_trace *trace, struct ml_output *out);

/* Writes the footer after them. @return 0 or the first failure */
int ml_chrome_close(struct ml_chrome *c);

/* The track that shows a thread of the trace, or a process. */
struct ml_chrome_track ml_chrome_thread(const struct ml_chrome *c, uint32_t thread);
uint32_t ml_chrome_pid(const struct ml_chrome *c, uint32_t process);

/* Begins an event. Fields may follow, then args, then the end.
 * @category  NULL: none */
void ml_chrome_begin(struct ml_chrome *c, char phase, const char *name, const char *category,
                     uint64_t time_ns, struct ml_chrome_track track);

/* The id of asynchronous events and flows; a field, so before the args. */
void ml_chrome_id(struct ml_chrome *c, uint64_t id);
struct ml_json *ml_chrome_args(struct ml_chrome *c);
void ml_chrome_end(struct ml_chrome *c);

/* A name or an order for a process or thread: "process_name", "thread_name". */
void ml_chrome_name(struct ml_chrome *c, const char *what, struct ml_chrome_track track,
                    const char *name);
void ml_chrome_sort(struct ml_chrome *c, const char *what, struct ml_chrome_track track,
                    int64_t index);

#endif
