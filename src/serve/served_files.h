/* served_files.h: the traces that the server may read: those named on the command line, those that
 * it lists, and those dropped on the page. Their numbers never change. Thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SERVE_SERVED_FILES_H
#define ML_SERVE_SERVED_FILES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define ML_SERVED_FILES_MAX 1000

struct ml_served_files {
    pthread_mutex_t adding;
    atomic_size_t count;                    /* released by an addition, acquired by readers */
    const char *paths[ML_SERVED_FILES_MAX]; /* NULL: the number is not used */
    const char *names[ML_SERVED_FILES_MAX]; /* to show */
    bool listed[ML_SERVED_FILES_MAX];       /* a recent one, which was not opened */
};

void ml_served_files_init(struct ml_served_files *files);
void ml_served_files_release(struct ml_served_files *files);

/* Copies both texts.
 * @path    NULL: leave a number unused
 * @name    NULL: the path's last part
 * @return the number; -ENOSPC: there are too many; -ENOMEM */
int ml_served_files_add(struct ml_served_files *files, const char *path, const char *name,
                        bool listed);

#endif
