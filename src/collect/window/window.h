/* window.h: keeps a trace that is being written within a limit, by dropping its oldest blocks.
 *
 * When the file is about half as large as it may become, its successor is made beside it, little
 * by little, with each block that is written: the events to be dropped are read back and become
 * the state at the beginning of the window, which is written first; the blocks after them are
 * copied. Then the successor takes the name of the file in one step. So the file of that name is
 * whole at any moment, readers that have it open keep what they see, and both files together
 * stay below the limit. No file system need do more than rename.
 *
 * The writing thread calls everything here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WINDOW_H
#define ML_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "block_write.h"
#include "error.h"
#include "index.h"
#include "window_dump.h"

/* Each 0: no limit. */
struct ml_window_limits {
    uint64_t bytes;
    uint64_t ns; /* of events that must be kept */
};

#define ML_WINDOW_BYTES_MIN (UINT64_C(16) << 20)

/* The file as it is now. */
struct ml_window_file {
    const struct ml_index_entry *blocks;
    const struct ml_index_totals *counts; /* of the events of each */
    size_t count;
    uint64_t bytes;
    uint64_t last_ns; /* time of the last event */
};

struct ml_window;

/* @fd    of the new file, still empty or with older contents
 * @path  of the file; must outlive the window
 * @return 0 or negative errno, with the reason */
int ml_window_new(const struct ml_window_limits *limits, int fd, const char *path,
                  uint64_t start_wall_ns, struct ml_window **ret, struct ml_error *err);
void ml_window_free(struct ml_window *w);

/* Targets wait while a successor is made: each part of the work raises the heartbeat. */
void ml_window_set_heartbeat(struct ml_window *w, _Atomic uint64_t *heartbeat);

/* Before so many bytes are appended to the file: does a share of the work.
 * @return 1: the successor is complete, take it with the next function; 0; -EFBIG if the limit is
 *         too small even for the state; or another negative errno */
int ml_window_make_room(struct ml_window *w, const struct ml_window_file *file, uint64_t bytes);

/* The successor, which has taken the name of the file. The caller closes the old descriptor and
 * owns the new one. The lists are valid until the next call of any function here. */
struct ml_window_successor {
    int fd;
    struct ml_window_file file;
};
int ml_window_take_successor(struct ml_window *w, struct ml_window_successor *ret);

#endif
