/* profile_file.h: the Chrome trace file of a profile.
 *
 * Records are collected in memory and appended in large pieces, each with the
 * closing lines behind it, which the next piece overwrites: the file is valid
 * JSON after every write, also when the disk is full or the writer is killed.
 * It is made by the first flush. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROFILE_FILE_H
#define ML_PROFILE_FILE_H

#include <stdint.h>

#include "error.h"
#include "vec.h"

struct ml_profile_file {
    char *path;
    int fd;             /* -1: not made yet, or finished */
    uint64_t end;       /* where the closing lines begin */
    struct ml_buf text; /* records to be written */
    uint64_t records;   /* in text */
    uint64_t lost;      /* records given up since this was last told */
    int error;          /* why, negative errno */
    /* Raised when records made so far are not in the file that comes: names
     * given in them have to be given again. Starts at 1. */
    uint32_t generation;
};

void ml_profile_file_init(struct ml_profile_file *f);

/* Closes without writing what is left. */
void ml_profile_file_release(struct ml_profile_file *f);

/* What comes goes to another file. `name` is taken in `directory` unless it is
 * absolute. @return 0 or -ENOMEM */
int ml_profile_file_set_path(struct ml_profile_file *f, const char *directory, const char *name);

enum ml_extra { ML_EXTRA_NONE, ML_EXTRA_ID, ML_EXTRA_SCOPE, ML_EXTRA_VALUE };

struct ml_profile_record {
    const char *name; /* name and category are JSON strings, quotes included */
    const char *category;
    char phase;
    uint64_t time_us;
    uint32_t pid, tid;
    enum ml_extra extra; /* which of those below there is */
    uint32_t id;
    char scope;
    int64_t value;
};

/* Both count a record as lost when memory runs out. A full buffer is flushed;
 * if that fails, it is given up. */
void ml_profile_file_put(struct ml_profile_file *f, const struct ml_profile_record *r);
void ml_profile_file_put_process(struct ml_profile_file *f, const char *name_json, uint32_t pid);

/* Brings the file up to date. What could not be written is kept for the next
 * time. @return 0 or negative errno; also once when records were lost earlier */
int ml_profile_file_flush(struct ml_profile_file *f, struct ml_error *err);

/* The same for nobody who listens: losses are told by a later flush. */
int ml_profile_file_update(struct ml_profile_file *f);

/* What comes starts a new file of the same name. */
void ml_profile_file_finish(struct ml_profile_file *f);

#endif
