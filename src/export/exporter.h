/* exporter.h: export a trace as a file of another program. One source file per format; the
 * table in exporter.c lists them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_EXPORTER_H
#define ML_EXPORT_EXPORTER_H

#include <stdbool.h>

#include "instant.h"
#include "output_file.h"
#include "progress.h"
#include "trace.h"

struct ml_export_opts {
    struct ml_at at;              /* for formats that show one instant */
    bool at_given;                /* false: the format's own default */
    const char *device;           /* "cuda:0", "0" for it, "cpu"; NULL: all */
    unsigned level;               /* enum memledger_level of the rows; 0: the format's default */
    const char *table;            /* for formats with tables, an existing one; NULL: the default */
    bool safe_csv;                /* for csv: see ml_csv_name */
    const char *file;             /* the trace's name, for formats that ask other commands */
    bool salvage;                 /* for these: skip damaged blocks */
    uint32_t pid;                 /* for formats with a file per process; 0: all in one */
    struct ml_progress *progress; /* NULL: no report is wanted */
};

/* Without duplicates. */
typedef ML_VEC(uint32_t) ml_pid_list;

/* Writes all of the file to `out->text`, with ml_output_line between its lines; a
 * format with `needs_file` may open out->written instead.
 * @return 0, or negative with the reason in `err`; without one: out of memory */
typedef int ml_export_fn(const struct ml_trace *trace, const struct ml_export_opts *opts,
                         struct ml_output *out, struct ml_error *err);

struct ml_exporter {
    const char *name;   /* "mxnet-csv" */
    const char *suffix; /* of its files, ".mxnet.csv": the name without -o, the format of -o */
    const char *help;   /* one line, no full stop */
    bool needs_file;    /* cannot be written to a pipe */
    bool whole_run;     /* shows the whole run: rejects --at */
    bool has_tables;    /* --table chooses one */
    bool all_devices;   /* rejects --device and --level */
    ml_export_fn *run;  /* NULL: the command's Python package writes a folder */
    /* The name of the file without -o; NULL, or a result of NULL: the trace's name with the
     * suffix. The caller frees the result.
     * @pid the process; 0: all */
    char *(*file_name)(const struct ml_trace *trace, uint32_t pid);
    /* The processes that get a file each without -o; NULL: one file for all.
     * @ret  the caller releases it, also after a failure; empty: no process has rows
     * @return as `run` */
    int (*processes)(const struct ml_trace *trace, const struct ml_export_opts *opts,
                     ml_pid_list *ret, struct ml_error *err);
};

/* All of them, NULL-terminated. */
extern const struct ml_exporter *const ml_exporters[];

/* @return NULL when no format has this name */
const struct ml_exporter *ml_exporter_find(const char *name);

/* The format with the longest suffix that `path` ends in; NULL: none. */
const struct ml_exporter *ml_exporter_of_path(const char *path);

extern const struct ml_exporter ml_exporter_chrome;
extern const struct ml_exporter ml_exporter_csv;
extern const struct ml_exporter ml_exporter_html;
extern const struct ml_exporter ml_exporter_json;
extern const struct ml_exporter ml_exporter_mxnet_csv;
extern const struct ml_exporter ml_exporter_mxnet_log;
extern const struct ml_exporter ml_exporter_mxnet_pool_csv;
extern const struct ml_exporter ml_exporter_nvidia_smi;
extern const struct ml_exporter ml_exporter_parquet;
extern const struct ml_exporter ml_exporter_pprof;
extern const struct ml_exporter ml_exporter_speedscope;
extern const struct ml_exporter ml_exporter_sqlite;
extern const struct ml_exporter ml_exporter_tbd_analysis;
extern const struct ml_exporter ml_exporter_tbd_log;
extern const struct ml_exporter ml_exporter_torch_snapshot;

#endif
