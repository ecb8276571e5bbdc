/* session_dir.h: the private directory through which targets find the
 * collector: the session page and the socket. Mode 0700, removed at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SESSION_DIR_H
#define ML_SESSION_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "file_user.h"
#include "ring.h"
#include "session_place.h"

struct ml_session_dir {
    char path[ML_SESSION_PATH_ROOM];   /* absolute */
    char inside[ML_SESSION_PATH_ROOM]; /* the same as the targets reach it */
    struct ml_file_user user;          /* who owns it */
    int lock;                          /* marks the folder as in use */
    struct ml_session *page;           /* mapped */
    int socket;                        /* bound, datagrams with descriptors and credentials */
    int outside;  /* the same for processes that cannot reach the folder; negative: there is none */
    int files[2]; /* listening, see struct ml_handed_file; the second may be missing too */
};

struct ml_session_opts {
    pid_t target;              /* already runs; 0: a child of this process */
    const char *parent;        /* the folder to make it in; NULL: one for temporary files */
    const char *parent_inside; /* the same as the targets reach it; NULL: by the same path */
    uint32_t heap;             /* enum ml_heap_mode */
    uint64_t heap_bytes, heap_seed;
    uint32_t cuda;   /* enum ml_cuda_mode */
    bool operators;  /* PyTorch's operators are scopes */
    uint32_t stacks; /* enum ml_stacks_mode */
    uint32_t clock;
    uint32_t ring_bytes; /* a power of two */
    bool ring_asked;     /* the user chose it */
    bool paused;         /* until `memledger resume` */
    bool copies;         /* processes leave a copy at their exit */
};

/* Also removes folders that killed runs have left behind. */
int ml_session_dir_init(struct ml_session_dir *s, const struct ml_session_opts *opts,
                        struct ml_error *err);

/* Replaces the path of the library to preload by one that the loader can parse:
 * blanks and colons end a name there. */
int ml_session_dir_reach(struct ml_session_dir *s, char library[PATH_MAX], struct ml_error *err);

/* Counts in the page the processes that reported that they cannot reach the directory; see
 * outside.h. */
void ml_session_dir_hear(struct ml_session_dir *s);

/* Unmaps, closes and removes the directory. */
void ml_session_dir_release(struct ml_session_dir *s);

/* Unmaps and closes; the other process that has the directory open
 * removes it. */
void ml_session_dir_detach(struct ml_session_dir *s);

#endif
