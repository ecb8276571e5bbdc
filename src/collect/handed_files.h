/* handed_files.h: files that targets have opened and handed to the collector, and ring sets
 * of those that can no longer reach the session's socket.
 *
 * Anybody may connect: the socket has a name in the abstract namespace too. The kernel says who
 * it is, and what does not come from a target is dropped. Until a record says what a file is for
 * nothing is done with it. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HANDED_FILES_H
#define ML_HANDED_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"
#include "vec.h"

/* One connection, and what came over it. */
struct ml_handed {
    uint32_t pid; /* who connected */
    int socket;   /* -1: all has come */
    uint64_t since_ns;
    struct ml_hello *hello; /* NULL: it is a file */
    uint32_t number;
    int fd; /* of the file, or of the ring set */
};

struct ml_handed_files {
    const int *listeners;         /* two; negative: there is none */
    ML_VEC(struct ml_handed) all; /* oldest first */
};

/* `listeners` must outlive it. */
void ml_handed_init(struct ml_handed_files *h, const int listeners[2]);
void ml_handed_release(struct ml_handed_files *h);

/* Takes in what has come. */
void ml_handed_receive(struct ml_handed_files *h);

/* The oldest hello that came with the session's key; the descriptor is the caller's from here on.
 * @return whether there was one */
bool ml_handed_take_hello(struct ml_handed_files *h, uint64_t key, struct ml_hello *ret,
                          uint32_t *ret_pid, int *ret_fd);

/* Drops what came from others than targets; who has only just connected may become one. */
void ml_handed_keep(struct ml_handed_files *h, bool (*is_target)(void *ctx, uint32_t pid),
                    void *ctx);

/* The file that the process handed over under that number, which is the caller's from here on.
 * @return a descriptor, or -1 */
int ml_handed_take(struct ml_handed_files *h, uint32_t pid, uint32_t number);

#endif
