/* ring.h: the memory that recorder and collector share.
 *
 * - One *session page*, a file in the run's private directory, mapped by the
 *   collector and by every target: settings, doorbell, signs of life.
 * - One or more *ring sets* per target process: a sealed memfd with up to ring_count
 *   single-producer single-consumer rings, one for each thread. The target creates it, with
 *   smaller and fewer rings where address space is short, and passes the descriptor to the
 *   collector. The contents therefore outlive the target, and neither side keeps a descriptor
 *   open.
 *
 * Targets are not trusted: the collector checks every position and length it finds here. Both
 * sides are built from the same source; `version` rejects a recorder of another build.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RING_H
#define ML_RING_H

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ML_SHARED_MAGIC 0x474e524d /* "MRNG" */
#define ML_SHARED_VERSION 23

/* The environment variable that gives a target the session directory. */
#define ML_SESSION_ENV "MEMLEDGER_SESSION"
/* Set if the launcher itself runs under a filter: "MODE:FILTERS" as in seccomp_state.h, for
 * targets that cannot read the page. */
#define ML_SECCOMP_ENV "MEMLEDGER_SECCOMP"
/* The files in the session directory. */
#define ML_SESSION_PAGE "page"
#define ML_SESSION_SOCKET "socket"
#define ML_SESSION_FILES "files"

enum ml_clock { ML_CLOCK_TSC = 1, ML_CLOCK_MONOTONIC = 2 };
/* What is recorded of the host heap: malloc's blocks, mappings too, samples, or large blocks. */
enum ml_heap_mode {
    ML_HEAP_OFF = 0,
    ML_HEAP_MALLOC = 1,
    ML_HEAP_ALL = 2,
    ML_HEAP_SAMPLE = 3,
    ML_HEAP_LARGE = 4,
};
/* How the recorder hooks the CUDA driver. */
enum ml_cuda_mode { ML_CUDA_PRELOAD = 0, ML_CUDA_INJECTION = 1, ML_CUDA_OFF = 2 };
/* Which stack is recorded for each block of a framework's allocator. Those of malloc get native
 * frames with ML_STACKS_NATIVE and ML_STACKS_ALL. */
enum ml_stacks_mode {
    ML_STACKS_NONE = 0,
    ML_STACKS_PYTHON = 1,
    ML_STACKS_NATIVE = 2,
    ML_STACKS_ALL = 3,
};

/* A GPU's state shared by the recorded processes; see cuda_turns.h. */
struct ml_session_device {
    _Atomic uint32_t holder; /* pid of the process in a call that may change its memory; 0: none */
    _Atomic uint32_t last;   /* pid of the last such process; 0: it has ended */
    _Atomic uint64_t booked; /* bytes in all books; the collector subtracts ended processes */
};

#define ML_SESSION_DEVICES 32 /* in NVML's numbering */

/* Notices that processes print on stderr; bits of `notices_said`. */
enum ml_notice {
    ML_NOTICE_VERSION = 1,      /* the recorder is of another version */
    ML_NOTICE_MALLOC = 2,       /* the program brings its own malloc */
    ML_NOTICE_MXNET = 4,        /* an unknown version of MXNet */
    ML_NOTICE_MXNET_PARTLY = 8, /* one that is known only in part */
    ML_NOTICE_AUTOGRAD = 16,    /* a PyTorch whose autograd is not known */
    ML_NOTICE_NVML = 32,        /* an NVML that hangs, or no thread for it */
};

/* The collector's ids in its own pid namespace. */
struct ml_collector_id {
    _Atomic uint32_t pid;           /* 0: not started yet */
    _Atomic uint32_t threads[2];    /* thread ids of the ring reader and the file writer */
    _Atomic uint64_t pid_namespace; /* its inode, 0: unknown */
    _Atomic uint64_t start_ticks;   /* of the process, as in /proc/PID/stat */
};

/* A process that added seccomp filters. */
struct ml_session_spared {
    _Atomic uint64_t process; /* ml_proc_key; 0: the entry is free */
    _Atomic uint32_t filters; /* the number that allow the recorder's calls, or a value below */
};

/* A filter that may kill the process for the recorder's calls is installed, or about to be. The
 * second value: a program started under it can count itself in the session page. */
#define ML_SPARED_RESTRICTED UINT32_MAX
#define ML_SPARED_MAY_COUNT (UINT32_MAX - 1)

static inline bool ml_spared_is_restricted(uint32_t filters)
{
    return filters >= ML_SPARED_MAY_COUNT;
}

/* A copy of a process at its exit, which waits until its memory has been searched for pointers to
 * blocks; see exit_copy.c. */
struct ml_session_copy {
    _Atomic uint32_t pid;   /* of the copy, set by the process; 0: there is none */
    _Atomic uint32_t ready; /* 1: the copy can be read. Set last, by the copy */
    uint32_t of_pid;        /* of the process that it is a copy of … */
    uint32_t thread;        /* … the thread that called exit() … */
    uint64_t time_ns;       /* … when, CLOCK_MONOTONIC … */
    uint64_t stack;         /* … its stack pointer … */
    uint64_t thread_area;   /* … and its thread pointer */
};

#define ML_SESSION_COPIES 16 /* in a run; the blocks of other processes are not searched for */

#define ML_SESSION_SPARED 64 /* entries; when all are taken, a new one replaces an old one */

/* Instead of a status of waitpid(): WIFEXITED and WIFSIGNALED are false. */
#define ML_STATUS_UNKNOWN UINT32_MAX

struct ml_session {
    uint32_t magic;
    uint32_t version;
    /* enum ml_notice: what a process of the run has printed, so that others do not repeat it.
     * At this offset in every version since 8. */
    _Atomic uint32_t notices_said;
    uint32_t clock;      /* enum ml_clock: the unit of record times */
    uint32_t heap;       /* enum ml_heap_mode */
    uint64_t heap_bytes; /* of a sample: between two on average; of a large block: its least size */
    uint64_t heap_seed;  /* of samples; 0: by chance */
    uint32_t cuda;       /* enum ml_cuda_mode */
    uint32_t operators;  /* 1: PyTorch's operators are scopes */
    uint32_t stacks;     /* enum ml_stacks_mode */
    uint32_t ring_bytes; /* a power of two */
    uint32_t ring_count; /* rings in a set, at most */
    uint32_t ring_asked; /* 1: the user chose ring_bytes */
    uint64_t key;        /* random; known only to processes of the run */

    /* The launcher's own state, see seccomp_state.h: the program added every restriction beyond
     * it. */
    uint32_t seccomp_known;
    uint32_t seccomp_mode;
    uint32_t seccomp_filters;
    uint32_t seccomp_counted;
    /* 1: a restricted entry of `spared` was replaced, although programs started by its process
     * may still run. */
    _Atomic uint32_t restricted_forgotten;

    /* Set by the launcher until the program runs. Nothing is written before that, so a program
     * that cannot be started leaves an older trace as it is. */
    _Atomic uint32_t held;
    /* Set by the launcher: drain the rings and close the file. Set before the program runs: it
     * could not be started. */
    _Atomic uint32_t finish;
    /* Raised by the launcher: save a copy of the trace so far. The collector counts copies. */
    _Atomic uint32_t save_requests;
    _Atomic uint32_t saves;
    _Atomic uint32_t saves_failed;
    /* The program itself, set by the launcher. The status is waitpid()'s and valid once
     * program_ended is set; after an attach the collector sets both, as far as it knows. */
    _Atomic uint32_t program_pid;
    _Atomic uint32_t program_status;
    _Atomic uint32_t program_ended;
    /* Set by the collector when it stops draining. */
    _Atomic uint32_t closed;
    /* Odd while the recording is paused; each `memledger pause` and `resume` adds one. See
     * turns.h. The time of the change, in ticks, is stored before it: of the last end of a pause,
     * and of the last begin. */
    _Atomic uint32_t turn;
    _Atomic uint64_t turned_ticks[2];
    /* Of a recording that joined a running process: when memory that is older had last been put
     * into the rings; 0: not yet. */
    _Atomic uint64_t older_ticks;

    /* The collector sleeps on `doorbell` (a futex) while `sleeping` is set. A target whose ring
     * fills adds one, and wakes the collector if it sleeps. The collector does not sleep if the
     * doorbell has rung since its last round began. */
    alignas(64) _Atomic uint32_t doorbell;
    _Atomic uint32_t sleeping;

    /* The collector raises it whenever it makes progress, so that a waiting target can
     * distinguish a busy collector from a dead one. */
    alignas(64) _Atomic uint64_t heartbeat;
    /* Rounds that the collector has completed. Each empties all rings. */
    _Atomic uint64_t rounds;
    /* 1 + the heartbeat at which a target found the collector stuck. While the heartbeat stays
     * there, no target waits for the collector: a run loses one second, not one per thread and
     * process. */
    _Atomic uint64_t stuck_at;
    /* When a target last saw that the collector was runnable but had no processor, in
     * nanoseconds of CLOCK_MONOTONIC, so that others need not check. */
    _Atomic uint64_t vouched_ns;
    /* Targets check its state; see collector_state.h. */
    struct ml_collector_id collector;

    /* Targets that could not create a ring set, and the events they dropped. */
    _Atomic uint32_t unrecorded;
    _Atomic uint64_t unrecorded_lost;
    /* Targets that could not reach the session's folder; the errno and the user of the first
     * one. */
    _Atomic uint32_t unreached;
    _Atomic uint32_t unreached_errno;
    _Atomic uint32_t unreached_uid;
    /* Targets that entered a sandbox, and those that started inside one, which are not
     * recorded. */
    _Atomic uint32_t entered_sandbox;
    _Atomic uint32_t began_in_sandbox;

    /* For the launcher's progress line and closing note. */
    _Atomic uint64_t events;
    _Atomic uint64_t own_events; /* of these, made by the collector: ends and losses */
    _Atomic uint64_t file_bytes;
    _Atomic uint64_t lost;
    _Atomic uint64_t not_followed;    /* of them: blocks and objects that did not fit */
    _Atomic uint64_t names_folded;    /* uses of names that did not fit */
    _Atomic uint64_t spaces_refused;  /* requested beyond ML_SPACE_MAX */
    _Atomic uint64_t details_lost;    /* stacks, libraries, scopes and labels that did not fit */
    _Atomic uint64_t refusals;        /* events among them: out of memory */
    _Atomic uint64_t killed_at_limit; /* the control group's limit for which one was killed, or 0 */
    _Atomic uint32_t killed;          /* processes that ended by SIGKILL */
    _Atomic uint32_t processes;       /* seen so far */
    _Atomic uint32_t running;         /* of them */
    _Atomic int32_t write_error;      /* errno of the first failed write */
    _Atomic uint32_t gpu_memory; /* 1: GPU memory was recorded; set before the collector ends */
    /* Set by the collector when it has written the end of the file and closed it. `closed` is set
     * earlier: a collector can still be killed in between. */
    _Atomic uint32_t file_closed;

    /* Samples, which `events` does not count. The collector writes the rest before it ends. */
    _Atomic uint64_t samples;
    uint32_t sample_pace_hz;   /* 0: no samples were requested or taken */
    uint32_t sample_taken;     /* readings, up to the largest uint32_t */
    double sample_achieved_hz; /* 0: too few readings */
    char gpus_unseen[192];     /* why no GPU was sampled; "": some were, or none was requested */

    /* 1: processes leave a copy at their exit. The copies end when `copies_done` is set (a futex),
     * or when the launcher has gone. */
    uint32_t copies_wanted;
    uint32_t launcher_pid;
    _Atomic uint32_t others_exited; /* processes other than the program itself */
    _Atomic uint32_t copies_done;
    struct ml_session_copy copies[ML_SESSION_COPIES];

    alignas(64) struct ml_session_device devices[ML_SESSION_DEVICES];
    struct ml_session_spared spared[ML_SESSION_SPARED];
};
static_assert(sizeof(struct ml_session) <= 4096, "the session page is one page");
static_assert(offsetof(struct ml_session, notices_said) == 8, "its place in every version");

/* Whether no process of this run has printed the notice yet; the caller then prints it. */
static inline int ml_session_tells(struct ml_session *s, enum ml_notice notice)
{
    return !(atomic_fetch_or_explicit(&s->notices_said, notice, memory_order_relaxed) & notice);
}

/* Counts a process that cannot reach the folder. */
static inline void ml_session_add_unreached(struct ml_session *s, uint32_t error, uint32_t uid)
{
    if (atomic_fetch_add(&s->unreached, 1))
        return;
    atomic_store(&s->unreached_errno, error);
    atomic_store(&s->unreached_uid, uid);
}

/* ---- Names that a process gives ---------------------------------------- */

/* What the program calls a thread or a process. It may be given, and changed, at any time: the
 * collector looks at `times` in each round. */
struct ml_given_name {
    _Atomic uint32_t times; /* that it was given; 0: never. Raised by the target after the text */
    char text[60];          /* NUL-terminated; a longer name is cut */
};
static_assert(sizeof(struct ml_given_name) == 64, "shared layout");

/* The same for a longer text: the place of a process in a distributed job, "rank=3 world_size=8".
 */
struct ml_given_place {
    _Atomic uint32_t times;
    char text[252];
};
static_assert(sizeof(struct ml_given_place) == 256, "shared layout");

static inline void ml_given_put(_Atomic uint32_t *times, char *text, size_t room, const char *from)
{
    for (size_t i = 0; i < room - 1; i++) {
        __atomic_store_n(&text[i], *from, __ATOMIC_RELAXED);
        from += *from != '\0';
    }
    /* Pairs with the acquire load of ml_given_get. */
    atomic_fetch_add_explicit(times, 1, memory_order_release);
}

static inline bool ml_given_get(const _Atomic uint32_t *times, const char *text, size_t room,
                                uint32_t *seen, char *ret)
{
    uint32_t now = atomic_load_explicit(times, memory_order_acquire);

    if (now == *seen)
        return false;
    *seen = now;
    for (size_t i = 0; i < room - 1; i++)
        ret[i] = __atomic_load_n(&text[i], __ATOMIC_RELAXED);
    ret[room - 1] = '\0';
    return true;
}

/* By the target. Only one thread may give a name at a time. */
static inline void ml_given_name_put(struct ml_given_name *name, const char *text)
{
    ml_given_put(&name->times, name->text, sizeof(name->text), text);
}

static inline void ml_given_place_put(struct ml_given_place *place, const char *text)
{
    ml_given_put(&place->times, place->text, sizeof(place->text), text);
}

/* By the collector. A name that is changed meanwhile is read again in the next round.
 * @times  that it was given when it was read last; updated
 * @return whether it was given since, and is in `ret` */
static inline bool ml_given_name_get(const struct ml_given_name *name, uint32_t *times,
                                     char ret[static sizeof(name->text)])
{
    return ml_given_get(&name->times, name->text, sizeof(name->text), times, ret);
}

static inline bool ml_given_place_get(const struct ml_given_place *place, uint32_t *times,
                                      char ret[static sizeof(place->text)])
{
    return ml_given_get(&place->times, place->text, sizeof(place->text), times, ret);
}

/* ---- Ring sets --------------------------------------------------------- */

enum ml_ring_state {
    ML_RING_FREE = 0,    /* a thread may claim it */
    ML_RING_CLAIMED = 1, /* set by the target: it fills in tid and name */
    ML_RING_ACTIVE = 2,  /* set by the target: may contain records */
    ML_RING_CLOSED = 3,  /* set by the target when the thread ends; the collector makes it FREE once
                            it is drained */
};

/* Who drains the ring. A collector that could not map a set (no memory, no descriptors)
 * continues without it, and no target may wait for it to drain that set. */
enum ml_ring_owner {
    ML_RING_SENT = 0,     /* no one yet */
    ML_RING_TAKEN = 1,    /* the collector drains it */
    ML_RING_ORPHANED = 2, /* set by the target: the collector did not take it */
};

/* Positions count 8-byte words since the set was created and never wrap; the word is stored at
 * position % (ring_bytes / 8). */
struct ml_ring {
    alignas(64) _Atomic uint64_t head; /* release-stored by the target's thread */
    alignas(64) _Atomic uint64_t tail; /* release-stored by the collector */
    /* A futex. The target's thread sets it to 1 and sleeps on it; the collector sets it
     * to 0 and wakes the thread once half of the ring is free. */
    _Atomic uint32_t waiting;
    alignas(64) _Atomic uint32_t state;
    uint32_t tid;           /* written before ACTIVE */
    char name[16];          /* the thread's, NUL-terminated */
    _Atomic uint64_t lost;  /* events dropped, ever */
    _Atomic uint32_t owner; /* enum ml_ring_owner */
    /* The thread's, as the program calls it; else it is called as the kernel does. */
    struct ml_given_name given;
};
static_assert(sizeof(struct ml_ring) == 256, "shared layout");

#define ML_REPLY_BYTES (1u << 20)

#define ML_FILTERED_SEEN (1u << 31) /* bit of `filtered`, set by the collector */

struct ml_ringset {
    uint32_t magic;
    uint32_t version;
    uint32_t ring_bytes;
    uint32_t ring_count;
    /* The rings at and after this one have never been claimed. Raised by the target
     * before the ring becomes ACTIVE. */
    _Atomic uint32_t rings_used;
    _Atomic uint64_t lost;           /* events dropped by threads that have no ring */
    _Atomic uint64_t not_followed;   /* blocks and objects that did not fit into a table */
    _Atomic uint64_t names_folded;   /* uses of names that did not fit into the table */
    _Atomic uint64_t spaces_refused; /* calls that requested a space beyond ML_SPACE_MAX */
    _Atomic uint64_t details_lost;   /* stacks, libraries and scopes that did not fit */

    /* Set to 1 by the collector: another process controls this one's profile, which is to
     * include calls of a framework's API. */
    _Atomic uint32_t calls_wanted;

    /* Not 0: the process is in a sandbox, and the recorder makes no system calls. The target
     * counts its filters here, the collector sets a bit. Used in a process's first set.
     * `sandboxed`: the session has counted the process. */
    _Atomic uint32_t filtered;
    _Atomic uint32_t sandboxed;
    _Atomic uint32_t filters_spared; /* added filters that allow the recorder's calls */

    /* Bytes in this process's book. Used in a process's first set. */
    _Atomic uint64_t booked[ML_SESSION_DEVICES];

    /* When the process called exit() or _exit(), in ticks, and 1 + the code that it passed; 0: it
     * has not. Records of exit handlers may still follow. Of a process's first set. */
    _Atomic uint64_t exit_clock;
    _Atomic uint32_t exit_code;

    /* The process's part among several, if the program says so. In a process's first set. */
    struct ml_given_name role;
    /* Its place in a distributed job, as far as the program says it: "rank=3 dp=1 tp=0". It
     * replaces values of the launcher (struct ml_hello). In a process's first set. */
    struct ml_given_place place;

    /* Answers to requests (ML_REC_REQUEST): the collector fills in status and text, then
     * release-stores the request's number and wakes the futex. The text has ML_REPLY_BYTES at
     * the end of the set, after the rings, so that a process with little address space can
     * leave it unmapped. */
    alignas(64) _Atomic uint32_t reply_number;
    int32_t reply_status;
    uint32_t reply_bytes;
};

static inline size_t ml_ringset_rings_offset(void)
{
    return (sizeof(struct ml_ringset) + 4095) / 4096 * 4096;
}

static inline size_t ml_ringset_data_offset(uint32_t ring_count)
{
    size_t end = ml_ringset_rings_offset() + ring_count * sizeof(struct ml_ring);
    return (end + 4095) / 4096 * 4096;
}

static inline size_t ml_ringset_reply_offset(uint32_t ring_bytes, uint32_t ring_count)
{
    return ml_ringset_data_offset(ring_count) + (size_t)ring_bytes * ring_count;
}

static inline size_t ml_ringset_bytes(uint32_t ring_bytes, uint32_t ring_count)
{
    return ml_ringset_reply_offset(ring_bytes, ring_count) + ML_REPLY_BYTES;
}

/* ---- Records ----------------------------------------------------------- */

/* A record is 1 or more words; the first is
 *
 *    63            16 15    8 7     0
 *   +----------------+-------+-------+
 *   |  clock, low 48 | space | kind  |
 *   +----------------+-------+-------+
 *
 * A space whose number is ML_SPACE_WIDE or more does not fit there: the first word then
 * contains ML_SPACE_WIDE, and an additional last word has the number.
 *
 * The collector restores the clock's high bits: a record is drained within
 * hours of being made, and 48 bits of a 5 GHz counter last 15 hours. Kinds
 * below 32 are those of enum ml_kind, with these words after the first:
 *
 *   ML_ALLOC addr size            ML_MOVE addr          ML_PUSH kind:string
 *   ML_FREE addr                  ML_MOVE_FAILED addr   ML_POP
 *   ML_FREE_RANGE addr size       ML_LABEL addr category:string
 *   ML_ALLOC_EX addr size requested stream
 *   ML_MARK kind number string    ML_OOM size stack
 *   ML_START object               ML_STOP object
 *   ML_MARKER domain:name scope   (scope: a string)
 *   ML_SAMPLE device:bits used free total used_by_process   (device: a string)
 *
 * where a:b is one word, a in its high and b in its low half. A push's kind may have a string,
 * the module's class, above its low 8 bits, and ML_PUSH_IMPERATIVE or ML_PUSH_BELOW in them. Each
 * process numbers its strings, spaces and objects from 1.
 *
 * A *tape* is a sequence of nodes that a framework replays backwards: PyTorch numbers the nodes
 * of its graph as a thread creates them, and runs them later, often on other threads. The
 * thread records in which scope it created which numbers; the thread that runs a node pushes
 * the scope in which that number was created. */
enum ml_record_kind {
    ML_REC_STRING = 64,    /* number:length, then the bytes, padded to words */
    ML_REC_SPACE,          /* number:level, device:name */
    ML_REC_OBJECT,         /* number:kind, domain:name */
    ML_REC_COUNTER_SET,    /* object, value */
    ML_REC_COUNTER_ADJUST, /* object, difference */
    ML_REC_CONFIG,         /* key:value */
    ML_REC_STATE,          /* process:state (enum ml_profile_state) */
    ML_REC_REQUEST,        /* number:what, argument */
    ML_REC_LIBRARY,        /* number:path, base, end, 0:build id (strings) */
    ML_REC_STACK,          /* number:frames, then return addresses or Python frames,
                            * innermost first */
    ML_REC_RING_STACK,     /* the same for a number of this ring alone: see ML_STACK_OF_RING */
    ML_REC_ALLOC_STACK,    /* addr, size, stack: an ML_ALLOC with its call stack */
    ML_REC_TAPE, /* tape, first, end: numbers from first to before end were created in this thread's
                    current scope */
    ML_REC_PUSH_TAPE, /* tape, number, flags:operator: push phase "backward" and below it the scopes
                         in which the number was created; see enum ml_tape_flags */
    ML_REC_FUNCTION,  /* string: until this thread pushes or pops a scope, it runs that function of
                         the program, which counts as a module of class ML_FUNCTION_CLASS; 0: no
                         function any more */
    ML_REC_PYTHON_FRAME, /* number:function, file:line (strings except the line) */
    ML_REC_PYTHON_STACK, /* number:frames, then Python frames, two to a word, innermost
                            first, the first in the low half; numbered with the others */
    ML_REC_WORK, /* key, stack:operator: this thread hands work over from its current scope; either
                    may be 0; the operator may have ML_WORK_IMPERATIVE */
    ML_REC_MOVE_WORK, /* from, to: work handed over under one key moves to another */
    ML_REC_PUSH_WORK, /* key, 0:operator: push the scopes that the work was handed over from,
                         and below them the operator, 0: that of ML_REC_WORK, if any */
    ML_REC_EXPECT, /* key, category:label: the label for a block that will be allocated for the key;
                      label 0: forget the key */
    ML_REC_EXPECT_OUTPUT,  /* size, category:label: the label for a block of that size, allocated by
                              the work that this thread hands over next, or by the thread itself
                              before its next pop */
    ML_REC_LABEL_EXPECTED, /* addr, key, end, size: an ML_LABEL with the label expected for the key
                              or the size, if any; the end (a string, 0: none) is appended */
    ML_REC_FILE,  /* server:number, path:errno: the profile file, opened by this process and handed
                     over under that number (see struct ml_handed_file), or the errno of the failure;
                     server: 0 for this process's own file, else the server's number + 1 */
    ML_REC_HELPS, /* nothing: this thread makes its next allocation as a worker in the parallel
                     region of another thread, which it does not know */
    ML_REC_ALLOC_APART, /* addr, size: an ML_ALLOC in no scope and without a stack: where it was
                           made is not known */
    ML_REC_KINDS,
};

/* Flags of ML_REC_PUSH_TAPE. The operator (a string, 0: unknown) becomes a scope below the
 * others if requested, and if none of them is a module. Inner: continue from the thread's
 * current scope, see inner_path.h. */
enum ml_tape_flags { ML_TAPE_OPERATOR = 1, ML_TAPE_INNER = 2 };

/* The program called the operator itself: it is not a node of a graph. A profile can leave such
 * operators out. */
#define ML_PUSH_IMPERATIVE 0x80u
#define ML_WORK_IMPERATIVE (1u << 31)

/* The name of the module is relative to the module that the thread is in, which the recorder may
 * not know: in backward only the collector does. */
#define ML_PUSH_BELOW 0x40u

enum ml_profile_state {
    ML_PROFILE_STOP = 0,
    ML_PROFILE_RUN = 1,
    ML_PROFILE_PAUSE = 2,
    ML_PROFILE_RESUME = 3,
};

/* Requests; the argument of stats is reset | format << 8 | sort << 16 | ascending << 24, that
 * of dump is finished | process << 8. The reply to files lists the numbers of the servers that
 * need a file, each followed by a blank: those whose profile runs, or with argument 1 all. */
enum ml_request {
    ML_REQUEST_DUMP = 1,
    ML_REQUEST_STATS = 2,
    ML_REQUEST_NOTHING = 3, /* replied to when all earlier records are done */
    ML_REQUEST_FILES = 4,
    ML_REQUEST_SAVE = 5, /* write the trace so far; the reply is its path */
};

#define ML_TIME_BITS 48
#define ML_TIME_SHIFT (64 - ML_TIME_BITS)
#define ML_STACK_MAX_FRAMES 64 /* further frames are left out */
/* A bit in the number of a stack: the number belongs to the ring that it is in, and means the stack
 * that was last announced there under it (ML_REC_RING_STACK), without this bit. A thread with more
 * stacks than numbers uses them again. */
#define ML_STACK_OF_RING (1u << 31)
#define ML_RING_STACKS_MAX (1u << 16) /* the highest number */
/* A bit in an address of ML_REC_STACK: the rest is the number of a Python frame. */
#define ML_STACK_PYTHON_FRAME (UINT64_C(1) << 63)
/* Instead of an outermost frame: the recorder could not find the callers. */
#define ML_STACK_ENDS_EARLY (UINT64_C(1) << 62)
#define ML_STACK_ADDRESS_BITS 62
#define ML_SPACE_WIDE 255              /* in a first word: the last word has the space's number */
#define ML_SPACE_MAX 65535             /* spaces of one process */
#define ML_NAMES_MAX (1u << 22)        /* strings of one process, + 1 */
#define ML_OTHER_NAMES "(other names)" /* replaces the names beyond that */
#define ML_NAME_MAX_BYTES 1023         /* a longer name is cut */
#define ML_RECORD_MAX_WORDS (2 + (ML_NAME_MAX_BYTES + 7) / 8)

static inline uint64_t ml_record_word(unsigned kind, unsigned space, uint64_t clock)
{
    return kind | (uint64_t)(space < ML_SPACE_WIDE ? space : ML_SPACE_WIDE) << 8 |
           clock << ML_TIME_SHIFT;
}

static inline uint64_t ml_pair(uint64_t high, uint64_t low)
{
    return high << 32 | (low & 0xffffffff);
}

/* ---- Hello ------------------------------------------------------------- */

/* Sent with the ring set's descriptor over the session's socket. A process that could reach the
 * folder once, or whose parent could, sends it over a connection, like files (below). */
struct ml_hello {
    uint32_t magic;
    uint32_t version;
    uint32_t pid;
    uint32_t parent_pid;
    uint32_t how;        /* ML_STARTED or ML_FORKED; the collector detects exec */
    uint32_t set;        /* 0 for the first ring set of a process */
    uint64_t clock;      /* when, in the session's clock */
    uint64_t key;        /* the session's */
    char role[16];       /* DMLC_ROLE, or "" */
    uint32_t role_count; /* processes with this role, 0: unknown */
    uint32_t rank;       /* 1 + its number in a job, as torchrun, MPI or Slurm gave it; 0: none */
    char place[388];     /* its place in that job: see docs/trace-format.md, process place */
    char command[1024];  /* the command line, arguments separated by blanks */
};

/* ---- Files ------------------------------------------------------------- */

/* Sent over a connection to ML_SESSION_FILES, before the ML_REC_FILE with the same number is
 * written, with the descriptor of a file for the collector to write to. The target opens the
 * file with its own rights. The socket is in the session directory; a target that can no longer
 * reach it finds the socket under the same path in the abstract namespace. */
struct ml_handed_file {
    uint32_t magic;
    uint32_t version;
    uint32_t number;
};

#endif
