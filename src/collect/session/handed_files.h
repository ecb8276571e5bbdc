/* handed_files.h: files that targets have opened and passed to the collector, and ring sets
 * of targets that can no longer reach the session's socket.
 *
 * Any process may connect: the socket has a name in the abstract namespace too. The kernel gives
 * the sender's pid, and messages of processes that are not targets are dropped. A file is not used
 * until a record says what it is for. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HANDED_FILES_H
#define ML_HANDED_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"
#include "vec.h"

/* One connection, and the message received over it. */
struct ml_handed {
    uint32_t pid; /* of the sender */
    int socket;   /* -1: everything has arrived */
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

/* Receives what has arrived. */
void ml_handed_receive(struct ml_handed_files *h);

/* The oldest hello with the session's key; the caller owns the descriptor from then on.
 * @return whether there was one */
bool ml_handed_take_hello(struct ml_handed_files *h, uint64_t key, struct ml_hello *ret,
                          uint32_t *ret_pid, int *ret_fd);

/* Drops messages of processes that are not targets; one that has just connected may become one. */
void ml_handed_keep(struct ml_handed_files *h, bool (*is_target)(void *ctx, uint32_t pid),
                    void *ctx);

/* The file that the process passed under that number; the caller owns it from then on.
 * @return a descriptor, or -1 */
int ml_handed_take(struct ml_handed_files *h, uint32_t pid, uint32_t number);

#endif
