/* profile_file.h: the Chrome trace file of a profile.
 *
 * Records are collected in memory and appended in large pieces, each followed by the
 * closing lines, which the next piece overwrites: the file is valid
 * JSON after every write, also when the disk is full or the writer is killed.
 *
 * The profiled program opens the file and passes a descriptor: see
 * handed_files.h. An empty file is begun at once; the first flush replaces the contents of
 * another. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROFILE_FILE_H
#define ML_PROFILE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "vec.h"

struct ml_profile_file {
    char *path;              /* for messages; NULL: not passed yet */
    int fd;                  /* -1: not passed, or finished */
    bool begun;              /* it has the first lines, and only we write to it */
    struct ml_error refusal; /* why there is no file */
    uint64_t end;            /* where the closing lines begin */
    struct ml_buf text;      /* records to be written */
    uint64_t records;        /* in text */
    uint64_t lost;           /* records dropped since the last report */
    int error;               /* why, negative errno */
    /* Raised when earlier records are not in the next file: names
     * defined in them have to be defined again. Starts at 1. */
    uint32_t generation;
};

void ml_profile_file_init(struct ml_profile_file *f);

/* Closes without writing the rest. */
void ml_profile_file_release(struct ml_profile_file *f);

/* Further records go to this file, unless there is one already. Takes the descriptor. Refuses one
 * that must not be written to, which later flushes report.
 * @fd     -1: the program could not open it
 * @error  why, an errno
 * @return 0 or negative errno */
int ml_profile_file_take(struct ml_profile_file *f, int fd, int error, const char *path);

enum ml_extra { ML_EXTRA_NONE, ML_EXTRA_ID, ML_EXTRA_SCOPE, ML_EXTRA_VALUE };

struct ml_profile_record {
    const char *name; /* name and category are JSON strings, quotes included */
    const char *category;
    char phase;
    uint64_t time_us;
    uint32_t pid, tid;
    enum ml_extra extra; /* which of the fields below is set */
    uint32_t id;
    char scope;
    int64_t value;
};

/* Both count a record as lost when memory runs out. A full buffer is flushed;
 * if that fails, it is dropped. */
void ml_profile_file_put(struct ml_profile_file *f, const struct ml_profile_record *r);
void ml_profile_file_put_process(struct ml_profile_file *f, const char *name_json, uint32_t pid);

/* Brings the file up to date. Keeps what could not be written for the next
 * time. @return 0 or negative errno; also once when records were lost earlier */
int ml_profile_file_flush(struct ml_profile_file *f, struct ml_error *err);

/* The same if the caller cannot report losses: a later flush reports them. */
int ml_profile_file_update(struct ml_profile_file *f);

/* Further records need a file to be passed. */
void ml_profile_file_finish(struct ml_profile_file *f);

#endif
