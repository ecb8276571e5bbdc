/* report_command.h: shared by the commands that read a trace: their
 * options, opening, writing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_REPORT_COMMAND_H
#define ML_CLI_REPORT_COMMAND_H

#include <stddef.h>

#include "health.h"
#include "memory_limit.h"
#include "options.h"
#include "style.h"
#include "trace.h"

struct ml_report_opts {
    bool json;
    int unit; /* enum ml_unit */
    bool salvage;
    uint64_t max_memory_bytes; /* 0: by the size of the traces */
};

extern const char *const ml_unit_choices[];

/* Entries of an option table, for commands whose own struct begins with a
 * struct ml_report_opts. */
#define ML_OPTION_JSON                                                                             \
    {                                                                                              \
        .name = "json", .type = ML_OPT_FLAG, .offset = offsetof(struct ml_report_opts, json),      \
        .help = "print one JSON object: bytes, nanoseconds"                                        \
    }
#define ML_OPTION_UNIT                                                                             \
    {                                                                                              \
        .name = "unit", .type = ML_OPT_CHOICE, .offset = offsetof(struct ml_report_opts, unit),    \
        .value_name = "UNIT", .choices = ml_unit_choices,                                          \
        .help = "show sizes in B, KiB, MiB or GiB (auto: as each fits)"                            \
    }
#define ML_OPTION_SALVAGE                                                                          \
    {                                                                                              \
        .name = "salvage", .type = ML_OPT_FLAG,                                                    \
        .offset = offsetof(struct ml_report_opts, salvage),                                        \
        .help = "skip and count damaged blocks instead of stopping"                                \
    }
#define ML_OPTION_SAFE_CSV(owner, member)                                                          \
    {                                                                                              \
        .name = "safe-csv", .type = ML_OPT_FLAG, .offset = offsetof(owner, member),                \
        .help = "with --csv: keep spreadsheets from running cells"                                 \
    }
#define ML_READ_OPTIONS                                                                            \
    ML_OPTION_SALVAGE, ML_OPTION_MAX_MEMORY(struct ml_report_opts, max_memory_bytes)
#define ML_REPORT_OPTIONS ML_OPTION_JSON, ML_OPTION_UNIT, ML_READ_OPTIONS

/* Opens a trace, or prints why not. @return NULL on failure; the caller owns it */
struct ml_trace *ml_report_open(const char *path, const struct ml_report_opts *opts);

/* The style of text on standard output: on a terminal its width and colours; in a pipe or file
 * no colour and nothing cut, sentences in lines of 100 columns. NO_COLOR and COLUMNS
 * are honoured. */
struct ml_style ml_report_style(const struct ml_report_opts *opts);

/* Writes to standard output, or prints why not. @return an exit code */
int ml_report_write(const struct ml_buf *text);

/* Prints the warnings of a trace to standard error, if the report itself does not
 * show them.
 * @name   the run's name; NULL: not needed */
void ml_report_warn(const struct ml_health *health, const char *name);

/* Sets the error of a command that has nothing to show because the trace is empty.
 * @name   the run's name
 * @return -ENODATA */
int ml_report_empty(const struct ml_health *health, const char *name, struct ml_error *err);

/* Prints "memledger: ..." for a failure. @return ML_EXIT_FAILURE */
int ml_report_fail(const struct ml_error *err);

/* For commands that take one trace: its name, or NULL after a usage error. */
const char *ml_report_operand(const struct ml_verb *verb, int argc, char **argv, int first);

/* ---- Commands that read one trace and print one report ----------------- */

struct ml_top_opts {
    struct ml_report_opts report;
    int64_t top; /* the most rows of a list */
};

/* The options of such a command.
 * @what  what it lists, for --help */
#define ML_TOP_OPTIONS(what)                                                                       \
    {.name = "top",                                                                                \
     .letter = 'n',                                                                                \
     .type = ML_OPT_INT,                                                                           \
     .offset = offsetof(struct ml_top_opts, top),                                                  \
     .value_name = "N",                                                                            \
     .help = "list N " what " (10)",                                                               \
     .min = 0,                                                                                     \
     .max = 1000000},                                                                              \
        ML_REPORT_OPTIONS

/* ---- … of the whole run, or of a device or process of it ----------------- */

struct ml_narrow_opts {
    struct ml_top_opts top; /* first, as its option entries require */
    const char *device;
    int64_t process; /* 0: all */
};

#define ML_NARROW_OPTIONS                                                                          \
    {.name = "device",                                                                             \
     .type = ML_OPT_STRING,                                                                        \
     .offset = offsetof(struct ml_narrow_opts, device),                                            \
     .value_name = "NAME",                                                                         \
     .help = "show only this device: cuda:0 (or 0), cpu for the host"},                            \
    {                                                                                              \
        .name = "process", .type = ML_OPT_INT, .offset = offsetof(struct ml_narrow_opts, process), \
        .value_name = "PID", .help = "show only this process", .min = 1, .max = UINT32_MAX         \
    }

/* Appends the command's report to `out`, as text or JSON.
 * @file  the trace's name as typed
 * @return 0, or negative with the reason in `err`; no reason: no memory */
typedef int ml_report_fn(const struct ml_trace *trace, const char *file,
                         const struct ml_top_opts *opts, struct ml_buf *out, struct ml_error *err);

/* Runs the command: options, opening, `report`, writing.
 * @opts   its defaults; the command's own struct may begin with it
 * @return an exit code */
int ml_report_run(const struct ml_verb *verb, ml_report_fn *report, struct ml_top_opts *opts,
                  int argc, char **argv);

#endif
