/* instant_command.h: shared by the commands that report on one instant:
 * --at and --device, and everything but the report.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_INSTANT_COMMAND_H
#define ML_CLI_INSTANT_COMMAND_H

#include "checkpoint_cache.h"
#include "instant.h"
#include "report_command.h"
#include "snapshot.h"

struct ml_instant_opts {
    struct ml_report_opts report;
    const char *at, *device;
    int64_t process; /* 0: all */
    int checkpoints; /* enum ml_checkpoint_use */
};

extern const char *const ml_checkpoint_choices[];

/* Entries of an option table, for commands whose own struct begins with a
 * struct ml_instant_opts. */
#define ML_OPTION_AT                                                                               \
    {                                                                                              \
        .name = "at", .type = ML_OPT_STRING, .offset = offsetof(struct ml_instant_opts, at),       \
        .value_name = "WHEN",                                                                      \
        .help = "choose an instant: peak (default), end, oom, step:N, step:N:end, or a time "      \
                "(1.5s, 20ms)"                                                                     \
    }
#define ML_OPTION_CHECKPOINTS                                                                      \
    {                                                                                              \
        .name = "checkpoints", .type = ML_OPT_CHOICE,                                              \
        .offset = offsetof(struct ml_instant_opts, checkpoints), .value_name = "WHEN",             \
        .choices = ml_checkpoint_choices,                                                          \
        .help = "cache checkpoints: auto (long traces), always, never"                             \
    }
#define ML_OPTION_DEVICE                                                                           \
    {                                                                                              \
        .name = "device", .type = ML_OPT_STRING,                                                   \
        .offset = offsetof(struct ml_instant_opts, device), .value_name = "NAME",                  \
        .help = "show only this device: cuda:0 (or 0), cpu for the host"                           \
    }

#define ML_OPTION_PROCESS                                                                          \
    {                                                                                              \
        .name = "process", .type = ML_OPT_INT,                                                     \
        .offset = offsetof(struct ml_instant_opts, process), .value_name = "PID",                  \
        .help = "show only blocks of this process", .min = 1, .max = UINT32_MAX                    \
    }

/* Appends the command's report to `out`, as text or JSON.
 * @opts     the command's own struct
 * @return 0, or negative with the reason in `err`; no reason: no memory */
typedef int ml_instant_fn(const struct ml_trace *trace, const char *file, const void *opts,
                          const struct ml_snapshot_opts *snapshot, struct ml_buf *out,
                          struct ml_error *err);

/* Checks --at, or prints the allowed values. @return negative to continue, else the exit code */
int ml_instant_parse(const struct ml_verb *verb, const char *text, struct ml_at *ret);

/* Opens a trace like ml_report_open, and attaches its checkpoints. */
struct ml_trace *ml_instant_open(const char *path, const struct ml_instant_opts *opts);

/* Runs the command; ml_verb_begin has been called before.
 * @opts   begins with a struct ml_instant_opts
 * @first  the first operand, as ml_verb_begin found it
 * @return an exit code */
int ml_instant_run(const struct ml_verb *verb, ml_instant_fn *report, const void *opts, int argc,
                   char **argv, int first);

#endif
