/* served_files.c: see served_files.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "served_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ml_served_files_init(struct ml_served_files *files)
{
    memset(files, 0, sizeof(*files));
    pthread_mutex_init(&files->adding, NULL);
}

void ml_served_files_release(struct ml_served_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free((char *)files->paths[i]);
        free((char *)files->names[i]);
    }
    pthread_mutex_destroy(&files->adding);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int put(struct ml_served_files *files, size_t number, const char *path, const char *name)
{
    char *kept = strdup(path), *shown = strdup(name ? name : last_part(path));

    if (!kept || !shown) {
        free(kept);
        free(shown);
        return -ENOMEM;
    }
    files->paths[number] = kept;
    files->names[number] = shown;
    return 0;
}

int ml_served_files_add(struct ml_served_files *files, const char *path, const char *name,
                        bool listed)
{
    size_t number;
    int r = -ENOSPC;

    pthread_mutex_lock(&files->adding);
    number = files->count;
    if (number < ML_SERVED_FILES_MAX) {
        r = path ? put(files, number, path, name) : 0;
        files->listed[number] = listed;
    }
    if (r == 0)
        atomic_store_explicit(&files->count, number + 1, memory_order_release);
    pthread_mutex_unlock(&files->adding);
    return r == 0 ? (int)number : r;
}
