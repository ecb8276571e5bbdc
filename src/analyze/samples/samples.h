/* samples.h: the ground truth in a trace: the highest samples of each device and each process,
 * and how they were taken.
 *
 * Peaks are those of the samples: a rise and fall between two samples is missed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SAMPLES_H
#define ML_ANALYZE_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "event.h"
#include "map.h"
#include "trace.h"
#include "vec.h"

#define ML_HOST_DEVICE "cpu" /* the host's name in samples */

/* A value that may be unknown. */
struct ml_seen {
    bool known;
    uint64_t bytes;
};

struct ml_sampled_device {
    uint32_t string; /* number of its name in the trace */
    const char *device;
    const char *name; /* "NVIDIA H200"; NULL: unknown */
    bool is_host;
    struct ml_seen peak_used, total;
    uint64_t peak_time_ns;
};

struct ml_sampled_process {
    uint32_t number; /* in the trace */
    uint32_t pid;
    struct ml_seen peak_rss, peak_pss;
    uint64_t gpu_bytes;      /* the latest sample, all GPUs together … */
    struct ml_seen peak_gpu; /* … and its peak */
};

/* As the recorder kept it; not `known` in a trace without it. */
struct ml_sample_rate {
    bool known;
    double asked_hz, pace_hz; /* the pace is lower when only the host is read */
    double achieved_hz;
    uint64_t taken;
    double cpu_seconds;
};

struct ml_samples {
    uint64_t events;
    struct ml_sample_rate rate;
    const char *driver;                          /* its version; NULL: unknown */
    ML_VEC(struct ml_sampled_device) devices;    /* GPUs by name, then the host */
    ML_VEC(struct ml_sampled_process) processes; /* by number */
};

/* Whether the run recorded samples alone. */
bool ml_trace_is_sample_only(const struct ml_trace *trace);

/* Whether two strings of a trace are equal; a writer may define one twice. */
bool ml_trace_same_string(const struct ml_trace *trace, uint32_t a, uint32_t b);

/* Whether a device is the requested one: "cuda:0", or "0" for short. */
bool ml_device_is(const char *name, const char *asked);

/* Whether the thread of the event took the sample itself. The second returns the process that the
 * sample's last value is about, if any. */
bool ml_sample_is_inside(const struct ml_event *event);
bool ml_sample_about(const struct ml_event *event, uint32_t *ret_process);

/* Collects the events of kind ML_SAMPLE while a trace is read. Starts zeroed. */
struct ml_sample_book {
    const struct ml_trace *trace;
    int error; /* the first failure */
    struct ml_samples samples;
    struct ml_map process_index; /* number -> index */
    struct ml_map uses;          /* process and GPU -> bytes in the latest sample */
};
void ml_sample_book_add(struct ml_sample_book *book, const struct ml_event *event);

/* Returns the result, with names and settings; strings go to `arena`.
 * @ret    to be released, after a failure too
 * @return 0 or -ENOMEM */
int ml_sample_book_close(struct ml_sample_book *book, struct ml_arena *arena,
                         struct ml_samples *ret);
void ml_samples_release(struct ml_samples *samples);

/* The address space of a process and the limit on it, RLIMIT_AS. */
struct ml_address_space {
    uint32_t process;           /* number, given by the caller */
    struct ml_seen used, limit; /* used: as last sampled up to the event … */
    uint64_t time_ns;           /* … then; 0: never */
};

/* Fills it in by one pass. If the process was sampled only after the first `events` events, the
 * limit is that of the first sample.
 * @return 0 or negative errno */
int ml_address_space(const struct ml_trace *trace, uint64_t events, struct ml_address_space *ret,
                     struct ml_error *err);

#endif
