/* target.h: a process that is being recorded, as the collector sees it: its
 * ring sets, its threads, and the mapping from its numbers to the trace's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TARGET_H
#define ML_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "backward.h"
#include "dict.h"
#include "expected.h"
#include "map.h"
#include "profile.h"
#include "ring.h"
#include "role.h"
#include "tape.h"
#include "ticks.h"
#include "vec.h"
#include "works.h"

struct ml_source_stacks;
struct ml_target;

/* See source_scopes.h. */
struct ml_source_place {
    uint32_t scope;
    uint32_t depth;     /* of the scope */
    uint32_t floor;     /* pops do not lead above this depth: 0, or that of a tape's push */
    uint32_t too_deep;  /* pushes beyond ML_SCOPE_MAX_DEPTH, ignored with their pops */
    uint32_t stack;     /* of the thread that submitted the work, 0: not known */
    uint32_t operators; /* enum ml_operator_flags: of the operators in that work */
    struct ml_output_range outputs; /* of that work */
    bool in_function;               /* the scope is that of a function, which is not in the depth */
    bool in_work; /* the pop that leads to the floor returns to the thread's former scope */
};

/* One ring. Positions are the collector's own: changes that the target makes to the
 * shared ones do not matter. */
struct ml_source {
    struct ml_target *target;
    struct ml_ring *ring;
    const uint64_t *data;
    uint64_t mask;          /* words in the ring, less one */
    uint64_t tail;          /* next word to read */
    uint64_t end;           /* of the words to read in this pass */
    uint64_t ticks;         /* stamp of the record at tail, set by ml_source_peek */
    uint32_t words;         /* its length, likewise */
    uint64_t first;         /* its first word, likewise; the target may change the shared one */
    uint64_t second;        /* the same, if the length depends on it */
    const uint64_t *record; /* all of it, while it is taken: see record_words.h */
    bool open;              /* a thread uses it */
    uint32_t thread;        /* its number in the trace */
    struct ml_source_place place;        /* the thread's current scope */
    ML_VEC(struct ml_source_place) left; /* its scope before each tape's or work's push */
    bool node_begun;                     /* by a tape's push, and no event has been written since */
    uint32_t node;                       /* the scope that it led to */
    uint32_t last_node;                  /* that of the last node that had an event */
    bool helps;                /* its next allocation is made for another thread: see helpers.h */
    uint32_t helped;           /* the thread that it last helped for certain, + 1 */
    struct ml_outputs outputs; /* of the work that it submits next, or does itself */
    uint64_t lost_seen;        /* of ring->lost, already in the trace */
    uint32_t times_named;      /* of ring->given, likewise */
    struct ml_source_stacks *stacks; /* NULL: it has announced none */
};

struct ml_target_set {
    struct ml_ringset *shared;
    size_t bytes;
    char *reply;               /* ML_REPLY_BYTES of it */
    struct ml_source *sources; /* one for each ring */
    uint32_t count;
    uint32_t used; /* of them; see ml_target_set_look */
    uint64_t lost_seen, not_followed_seen, names_folded_seen, spaces_refused_seen;
    uint64_t details_lost_seen;
};

/* A space as the target announced it, in the trace's strings. The trace defines it
 * at its first use: unused spaces would only clutter reports. */
struct ml_target_space {
    uint32_t id;    /* the trace's + 1; 0: not used yet */
    uint32_t level; /* 0: never announced */
    uint32_t device;
    uint32_t name;
    bool is_heap;     /* of the malloc family or its mappings */
    uint64_t sampled; /* bytes between two samples on average, 0: all blocks are recorded */
};

/* An object that a target's loader had loaded when it was announced. */
struct ml_target_library {
    uint32_t number; /* the target's */
    uint32_t id;     /* the trace's */
    uint64_t base;
    uint64_t end;
};

struct ml_target {
    uint32_t pid;
    uint32_t process;     /* number in the trace */
    int pidfd;            /* -1 where the kernel has none */
    bool dead;            /* but its last messages may still be in the socket */
    bool heard_out;       /* dead, and the socket has been read since */
    bool gone;            /* dead or replaced by exec: drain once more and forget */
    bool replaced;        /* by exec, or by a later process with the same pid */
    bool execed;          /* replaced by exec: the process has not ended */
    bool stays;           /* though gone: there is more to read, or to find out, in a later round */
    bool said_end;        /* it called exit() and recorded that */
    uint64_t status;      /* 1 + the status of waitpid(), 0: not known yet */
    uint64_t alive_ticks; /* when it was last seen running */
    uint64_t end_ticks;   /* when it ended or was replaced … */
    uint64_t end_ns;      /* … in the trace's time */
    bool own;             /* not a process: the collector's own samples; they belong to no thread */
    bool foreign;         /* in another pid namespace: its thread ids mean nothing here */
    uint32_t own_pid;     /* in its own pid namespace */
    struct ml_role role;
    uint32_t times_role_given; /* of the first set's role, already in the trace */
    uint32_t times_placed;     /* the same of its place */
    char place[sizeof(((struct ml_hello *)0)->place)]; /* as the launcher said it */
    bool sets_servers; /* its settings currently apply to the servers */
    ML_VEC(struct ml_target_set) sets;
    ML_VEC(uint32_t) strings; /* its number -> the trace's; likewise below */
    ML_VEC(uint32_t) objects; /* + 1; 0: not defined */
    ML_VEC(int64_t) counters;
    ML_VEC(uint32_t) stacks;                    /* 0: not defined */
    ML_VEC(uint32_t) python_frames;             /* + 1; 0: not defined */
    ML_VEC(struct ml_target_library) libraries; /* in the order of their announcement */
    uint32_t libraries_version; /* rises when an address may have come to mean something else */
    struct ml_map frames;       /* address -> the trace's frame, for this version */
    ML_VEC(struct ml_target_space) spaces; /* by its number */
    struct ml_tapes tapes;
    struct ml_backward backward;
    struct ml_works works;
    struct ml_expected expected;
    uint64_t scopes_dropped; /* pushes that were ignored; as in works.h */
    struct ml_waiting_outputs waiting;
    struct ml_profile *profile; /* NULL until it asks for one */
};

/* A process that said hello. `parent` is the number of the process it came
 * from, -1 if that is not recorded; `how` is enum ml_process_how. */
struct ml_target *ml_target_new(const struct ml_hello *hello, uint32_t pid, int64_t parent,
                                uint32_t how, uint64_t start_ns, struct ml_dict *dict);
void ml_target_free(struct ml_target *t);

/* Takes over the process's pidfd, or opens one if it is -1. */
void ml_target_watch(struct ml_target *t, int *pidfd);

/* Maps the ring set behind `fd` after checking it; 0, or negative errno. */
int ml_target_add_set(struct ml_target *t, int fd);

/* Finds out how many rings the target has used so far: the others are empty,
 * and most processes use one. */
void ml_target_set_look(struct ml_target_set *set);

/* Whether the process still runs. */
bool ml_target_running(const struct ml_target *t);

/* Tells a process whose profile is controlled by another one whether to record calls in it. */
void ml_target_want_calls(struct ml_target *t, bool wanted);

/* Answers request `number`. */
void ml_target_reply(struct ml_target *t, uint32_t number, int status, const void *text,
                     size_t bytes);

#endif
