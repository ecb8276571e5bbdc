/* recorder.c: starts the recorder in a process and hands out rings.
 *
 * All state that belongs to one process is in pages that the kernel clears in a forked child
 * (MADV_WIPEONFORK), so that a child finds itself not started, however it was forked and whatever
 * its parent's other threads were doing. State that remains true in a child (the session) is in
 * plain variables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recorder.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/futex.h>

#include "collector_watch.h"
#include "defs.h"
#include "given_names.h"
#include "names.h"
#include "objects.h"
#include "recorder_parts.h"
#include "sandbox.h"
#include "sandbox_look.h"
#include "session.h"
#include "sys.h"
#include "turns.h"
#include "writer.h"

#define SETS_MAX 1024

/* How long to wait for a thread that waits for the collector, which takes a minute at most. */
#define LOCK_PATIENCE_S 70

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum { NOT_STARTED, STARTED, OFF };

struct process {
    struct ml_lock lock;
    _Atomic uint32_t state;
    pid_t pid; /* 0: no calls were allowed when it started */
    struct ml_lock names_lock;
    struct ml_lock stacks_lock;
    struct ml_lock python_lock;
    struct ml_lock announce_lock;
    _Atomic uint32_t claims; /* of rings */
    _Atomic bool announced;  /* or nothing to announce */
    _Atomic bool names_dropped;
    bool no_more_sets;          /* creating one failed; each retry would cost a record */
    _Atomic uint32_t sets;      /* created so far, by all recordings */
    _Atomic uint32_t first_set; /* of this recording */
    uint32_t kept_set;          /* the first whose rings have not been dropped */
    int unreached;              /* errno if the collector could not be reached */
    bool joined;                /* the process was running when this recording began */
    struct ml_ringset *set[SETS_MAX];
    struct ml_set_shape shape[SETS_MAX];
    size_t taken_bytes; /* address space of all sets */
    struct ml_writer *writers[SETS_MAX];
};

_Atomic(struct ml_session *) ml_session;
_Atomic uint32_t ml_ring_bytes;
_Atomic uint32_t ml_ring_count;
ML_READ_ALWAYS _Atomic uint32_t ml_clock_mode;
ML_READ_ALWAYS _Atomic bool ml_clock_fenced;
ML_READ_ALWAYS uint32_t ml_stacks_mode;

_Atomic uint32_t ml_recording;

static struct process *process;
static _Atomic uint32_t clock_of_session;
/* The number of recordings so far, in this process and in those that forked it. */
static uint32_t recordings;
static _Atomic bool late;
/* Whether this process, or one that forked it, has looked for the session. */
static bool session_sought;
static bool started_before;

/* Set while this thread starts the recorder, because our own library calls may come back through a
 * hook. */
static __thread bool starting;

/* ---- Memory that a forked child sees cleared ---------------------------- */

#define WIPED_MAX (4 + SETS_MAX)

static struct {
    void *at;
    _Atomic size_t bytes; /* 0: nothing is there */
} wiped[WIPED_MAX];
static _Atomic unsigned wiped_count;

/* For kernels before 4.14; covers fork() but not raw clone. */
static void wipe_in_child(void)
{
    for (unsigned i = 0; i < WIPED_MAX; i++) {
        size_t bytes = atomic_load_explicit(&wiped[i].bytes, memory_order_acquire);

        if (bytes)
            memset(wiped[i].at, 0, bytes);
    }
}

/* Threads may do this at the same time. */
static bool wipe_later(void *p, size_t bytes)
{
    unsigned i = atomic_load_explicit(&wiped_count, memory_order_relaxed);

    do {
        if (i == WIPED_MAX)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&wiped_count, &i, i + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    if (i == 0 && pthread_atfork(NULL, NULL, wipe_in_child))
        return false;
    wiped[i].at = p;
    /* Pairs with the acquire load in wipe_in_child: the address is set. */
    atomic_store_explicit(&wiped[i].bytes, bytes, memory_order_release);
    return true;
}

void *ml_recorder_map_wiped(size_t bytes)
{
    void *p = ml_sys_map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);

    if (!p)
        return NULL;
    if (!madvise(p, bytes, MADV_WIPEONFORK) || wipe_later(p, bytes))
        return p;
    ml_sys_unmap(p, bytes);
    return NULL;
}

void ml_recorder_unmap_wiped(void *p, size_t bytes)
{
    for (unsigned i = 0; i < WIPED_MAX; i++) {
        if (atomic_load_explicit(&wiped[i].bytes, memory_order_acquire) && wiped[i].at == p)
            atomic_store_explicit(&wiped[i].bytes, 0, memory_order_relaxed);
    }
    ml_sys_unmap(p, bytes);
}

/* ---- Start -------------------------------------------------------------- */

static void begin_recording(bool is_late)
{
    late = is_late;
    atomic_store_explicit(&ml_recording, ++recordings, memory_order_release);
}

static void use_clock(uint32_t clock)
{
    clock_of_session = clock;
    if (ml_clock_mode != ML_CLOCK_ASK)
        ml_clock_mode = clock;
}

uint32_t ml_recorder_clock(void)
{
    return clock_of_session;
}

static void open_session(void)
{
    uint32_t ring_bytes = 0, ring_count = 0;

    ml_session = ml_session_open(&ring_bytes, &ring_count);
    ml_ring_bytes = ring_bytes;
    ml_ring_count = ring_count;
    if (ml_session) {
        ml_turns_begin(ml_session);
        begin_recording(false);
    }
    /* Without a session any clock will do: nothing is kept. */
    use_clock(ml_session ? ml_session->clock : ML_CLOCK_TSC);
    ml_stacks_mode = ml_session ? ml_session->stacks : ML_STACKS_NONE;
}

static bool add_set(struct process *p)
{
    uint32_t n = p->sets;
    uint32_t how = started_before && !p->joined ? ML_FORKED : ML_STARTED;

    if (n == SETS_MAX || p->no_more_sets || !ml_calls_allowed())
        return false;
    p->no_more_sets = true; /* unless all goes well */
    /* An earlier attempt may have got this far. */
    if (!p->writers[n] && ml_set_shape_choose(n - p->first_set, p->taken_bytes, &p->shape[n]))
        p->writers[n] = ml_recorder_map_wiped(p->shape[n].ring_count * sizeof(struct ml_writer));
    if (!p->writers[n])
        return false;
    p->set[n] = ml_session_new_set(how, n - p->first_set, &p->shape[n], &p->unreached);
    if (p->set[n] && n == p->first_set) {
        atomic_store_explicit(&ml_filtered_in_set, &p->set[n]->filtered, memory_order_relaxed);
        ml_given_to_set(p->set[n]);
    }
    /* If the collector makes no progress, try again later. */
    p->no_more_sets = !p->set[n] && !ml_collector_stuck();
    if (!p->set[n])
        return false;
    p->taken_bytes += p->shape[n].taken_bytes;
    /* Pairs with the acquire loads of `sets`: the pointers are set. */
    atomic_store_explicit(&p->sets, n + 1, memory_order_release);
    return true;
}

/* Counts why this process makes no calls. */
static void count_unstarted(void)
{
    switch (ml_sandbox_sight()) {
    case ML_SIGHT_NO_PROC: ml_session_add_unreached(ml_session, ENOENT, 0); break;
    case ML_SIGHT_NO_DESCRIPTORS:
        atomic_fetch_add_explicit(&ml_session->unrecorded, 1, memory_order_relaxed);
        break;
    case ML_SIGHT_CLEAR:
        atomic_fetch_add_explicit(&ml_session->began_in_sandbox, 1, memory_order_relaxed);
        break;
    }
}

/* A part that cannot be started stays off, except when the collector makes no progress: it may
 * recover. */
static void start_locked(struct process *p)
{
    uint32_t state = STARTED;

    if (!session_sought) {
        ml_writer_init();
        open_session();
        session_sought = true;
    }
    if (ml_calls_allowed())
        p->pid = getpid();
    if (!ml_session || !ml_recording) {
        state = OFF;
    } else if (!ml_calls_allowed()) {
        count_unstarted();
        state = OFF;
    } else if (!add_set(p)) {
        if (!p->no_more_sets)
            return;
        if (p->unreached)
            ml_session_add_unreached(ml_session, (uint32_t)p->unreached, (uint32_t)geteuid());
        else
            atomic_fetch_add_explicit(&ml_session->unrecorded, 1, memory_order_relaxed);
        state = OFF;
    }
    p->announced = !started_before;
    started_before = true;
    if (state == STARTED)
        ml_sandbox_announce();
    /* Pairs with the acquire load in ml_recorder_start. */
    atomic_store_explicit(&p->state, state, memory_order_release);
}

/* Two threads may race here: the loser's page stays unused, because on old kernels it is on the
 * list of pages that a child clears. There is no lock: a child forked meanwhile would find it taken
 * forever. */
static struct process *this_process(void)
{
    struct process *p = __atomic_load_n(&process, __ATOMIC_ACQUIRE);
    struct process *none = NULL;

    if (p)
        return p;
    p = ml_recorder_map_wiped(sizeof(*p));
    if (p &&
        !__atomic_compare_exchange_n(&process, &none, p, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return none;
    return p;
}

static bool start_quietly(void)
{
    struct process *p = this_process();
    bool ok;

    if (!p) {
        use_clock(ML_CLOCK_TSC);
        return false;
    }
    if (!ml_lock_within(&p->lock, LOCK_PATIENCE_S))
        return false;
    if (atomic_load_explicit(&p->state, memory_order_relaxed) == NOT_STARTED)
        start_locked(p);
    ok = atomic_load_explicit(&p->state, memory_order_relaxed) == STARTED;
    ml_unlock(&p->lock);
    return ok;
}

bool ml_recorder_start(void)
{
    struct process *p = __atomic_load_n(&process, __ATOMIC_ACQUIRE);
    uint32_t state = p ? atomic_load_explicit(&p->state, memory_order_acquire) : NOT_STARTED;
    int saved_errno = errno;
    struct ml_quiet quiet;
    bool ok;

    if (ML_LIKELY(state != NOT_STARTED))
        return state == STARTED;
    if (starting || (ml_session && ml_recording && ml_collector_stuck()))
        return false;
    ml_sandbox_look();
    ml_quiet_begin(&quiet);
    starting = true;
    ok = start_quietly();
    starting = false;
    ml_quiet_end(&quiet);
    if (ok)
        ml_names_reserve();
    errno = saved_errno;
    return ok;
}

bool ml_recorder_in_session(void)
{
    return ml_recorder_start() || (ml_recorder_recording() && process);
}

bool ml_recorder_is_anothers(void)
{
    struct process *p = process;

    return p && p->pid && p->pid != getpid();
}

bool ml_recorder_is_late(void)
{
    return late;
}

/* The tables' fork handlers are registered here and not by the first record, which a malloc may
 * make while libc holds one of its locks: pthread_atfork takes one. */
__attribute__((constructor)) static void start_at_load(void)
{
    ml_recorder_start();
    if (!process)
        return; /* there are no locks to hold */
    ml_names_init();
    for (const struct ml_recorder_part *const *part = ml_recorder_parts; *part; part++) {
        if ((*part)->init)
            (*part)->init();
    }
    ml_sandbox_init();
}

/* ---- Recordings of a process that is under way --------------------------- */

static int join_locked(struct process *p, const char *dir)
{
    uint32_t ring_bytes, ring_count;
    struct ml_session *session;
    int r;

    if (atomic_load_explicit(&p->state, memory_order_relaxed) == STARTED)
        return -EBUSY;
    if (p->sets == SETS_MAX || recordings == ML_RECORDINGS_MAX)
        return -ENOSPC;
    r = ml_session_join(dir, &ring_bytes, &ring_count, &session);
    if (r)
        return r;
    ml_ring_bytes = ring_bytes;
    ml_ring_count = ring_count;
    use_clock(session->clock);
    ml_stacks_mode = session->stacks;
    ml_turns_begin(session);
    ml_session = session;
    p->first_set = p->sets;
    p->no_more_sets = false;
    p->joined = true;
    if (!add_set(p))
        return -EIO;
    p->announced = false; /* earlier recordings were sent the names, this one was not */
    begin_recording(true);
    atomic_store_explicit(&p->state, STARTED, memory_order_release);
    return 0;
}

void ml_recorder_mark_older(void)
{
    if (ml_recorder_is_late() && ml_recorder_recording())
        atomic_store(&ml_session->older_ticks, ml_now());
}

int ml_recorder_join(const char *dir)
{
    struct process *p;
    struct ml_quiet quiet;
    int saved_errno = errno;
    int r = -EIO;

    ml_recorder_start(); /* starts what can be started only once */
    ml_sandbox_look();
    errno = saved_errno;
    if (!ml_calls_allowed())
        return -EPERM;
    p = this_process();
    if (!p)
        return -ENOMEM;
    ml_quiet_begin(&quiet);
    if (ml_lock_within(&p->lock, LOCK_PATIENCE_S)) {
        r = join_locked(p, dir);
        ml_unlock(&p->lock);
    }
    ml_quiet_end(&quiet);
    errno = saved_errno;
    return r;
}

/* Threads find out at their next record, all at the same instant: one that records on would
 * allocate in the place of a block whose free another no longer records. The limits are for the
 * next recording: no thread must go on with its old ring. Pairs with set_limit in writer.c, which
 * also covers a thread that is about to get its ring. */
static void stop_writers(struct process *p)
{
    atomic_store_explicit(&ml_recording, 0, memory_order_seq_cst);
    ml_turns_end();
    for (uint32_t n = p->first_set; n < p->sets; n++) {
        for (uint32_t i = 0; i < p->shape[n].ring_count; i++) {
            struct ml_writer *w = &p->writers[n][i];
            /* Does not touch the memory of unused writers. */
            if (__atomic_load_n(&w->ring, __ATOMIC_RELAXED))
                atomic_store_explicit(&w->limit, 0, memory_order_seq_cst);
        }
    }
}

static void finish_session(struct ml_session *s)
{
    atomic_store(&s->finish, 1);
    atomic_fetch_add(&s->doorbell, 1);
    if (ml_calls_begin()) {
        syscall(SYS_futex, &s->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
        ml_calls_end();
    }
}

/* A child that has recorded nothing so far is in its parent's recording, too. */
static int leave_locked(struct process *p)
{
    if (!late || !ml_recorder_recording())
        return -ESRCH;
    atomic_store_explicit(&p->state, OFF, memory_order_release);
    ml_stacks_mode = ML_STACKS_NONE;
    stop_writers(p);
    if (p->joined)
        finish_session(ml_session);
    return 0;
}

int ml_recorder_leave(void)
{
    struct process *p = this_process();
    struct ml_quiet quiet;
    int r = -ESRCH;

    if (!p)
        return r;
    ml_quiet_begin(&quiet);
    if (ml_lock_within(&p->lock, LOCK_PATIENCE_S)) {
        r = leave_locked(p);
        ml_unlock(&p->lock);
    }
    ml_quiet_end(&quiet);
    return r;
}

/* The rings stay mapped: a thread may be about to write there. */
void ml_recorder_drop_rings(void)
{
    struct process *p = this_process();
    int saved_errno = errno;

    if (!p || !ml_calls_begin())
        return;
    if (ml_lock_within(&p->lock, LOCK_PATIENCE_S)) {
        if (atomic_load_explicit(&p->state, memory_order_relaxed) != STARTED) {
            for (; p->kept_set < p->sets; p->kept_set++)
                madvise(p->set[p->kept_set], p->shape[p->kept_set].mapped_bytes, MADV_REMOVE);
        }
        ml_unlock(&p->lock);
    }
    ml_calls_end();
    errno = saved_errno;
}

/* ---- Rings -------------------------------------------------------------- */

static struct ml_ring *rings_of(struct ml_ringset *set)
{
    return (struct ml_ring *)(void *)((char *)set + ml_ringset_rings_offset());
}

/* Call before the ring has any records; pairs with the collector's acquire load. */
static void count_ring(struct ml_ringset *set, uint32_t number)
{
    uint32_t used = atomic_load_explicit(&set->rings_used, memory_order_relaxed);

    while (used <= number &&
           !atomic_compare_exchange_weak_explicit(&set->rings_used, &used, number + 1,
                                                  memory_order_release, memory_order_relaxed))
        continue;
}

static struct ml_ring *claim_in(struct process *p, uint32_t n, uint64_t **ret_data,
                                struct ml_writer **ret_writer)
{
    const struct ml_set_shape *shape = &p->shape[n];
    struct ml_ring *rings = rings_of(p->set[n]);
    char *data = (char *)p->set[n] + ml_ringset_data_offset(shape->ring_count);

    for (uint32_t i = 0; i < shape->ring_count; i++) {
        struct ml_writer *w = &p->writers[n][i];
        uint32_t free_ring = ML_RING_FREE;
        if (atomic_load_explicit(&rings[i].state, memory_order_relaxed) != ML_RING_FREE ||
            !atomic_compare_exchange_strong_explicit(&rings[i].state, &free_ring, ML_RING_CLAIMED,
                                                     memory_order_acquire, memory_order_relaxed))
            continue;
        count_ring(p->set[n], i);
        w->mask = shape->ring_bytes / sizeof(uint64_t) - 1;
        *ret_data = (uint64_t *)(void *)(data + (size_t)i * shape->ring_bytes);
        *ret_writer = w;
        return &rings[i];
    }
    return NULL;
}

struct ml_ring *ml_recorder_claim(uint64_t **ret_data, struct ml_writer **ret_writer)
{
    struct process *p;
    struct ml_ring *ring = NULL;
    uint32_t tried;

    if (!ml_recorder_start())
        return NULL;
    p = process;
    tried = p->first_set;
    while (!ring) {
        uint32_t sets = atomic_load_explicit(&p->sets, memory_order_acquire);
        while (!ring && tried < sets)
            ring = claim_in(p, tried++, ret_data, ret_writer);
        if (ring)
            break;
        if (!ml_lock_within(&p->lock, LOCK_PATIENCE_S))
            return NULL;
        if (p->sets == sets && !add_set(p)) {
            ml_unlock(&p->lock);
            return NULL;
        }
        ml_unlock(&p->lock);
    }
    /* Pairs with the acquire load in ml_tsc: a thread that sees what this one does also sees this.
     * A forked child keeps the fence of its parent. */
    if (atomic_fetch_add_explicit(&p->claims, 1, memory_order_relaxed))
        atomic_store_explicit(&ml_clock_fenced, true, memory_order_release);
    return ring;
}

struct ml_lock *ml_recorder_names_lock(void)
{
    return &process->names_lock;
}

struct ml_lock *ml_recorder_stacks_lock(void)
{
    return &process->stacks_lock;
}

struct ml_lock *ml_recorder_python_lock(void)
{
    return &process->python_lock;
}

static void announce_names(void)
{
    ml_names_announce();
    ml_objects_announce();
    for (const struct ml_recorder_part *const *part = ml_recorder_parts; *part; part++) {
        if ((*part)->announce_names)
            (*part)->announce_names();
    }
}

static void announce_settings(void)
{
    for (const struct ml_recorder_part *const *part = ml_recorder_parts; *part; part++) {
        if ((*part)->announce_settings)
            (*part)->announce_settings();
    }
}

/* A child's other threads wait here until the first has announced everything. */
void ml_recorder_announce(void)
{
    struct process *p = process;

    /* Pairs with the release store below. */
    if (ML_LIKELY(atomic_load_explicit(&p->announced, memory_order_acquire)))
        return;
    if (!ml_lock_within(&p->announce_lock, LOCK_PATIENCE_S)) {
        ml_recorder_names_dropped();
        return;
    }
    if (!p->announced) {
        announce_names();
        announce_settings();
        atomic_store_explicit(&p->announced, true, memory_order_release);
    }
    ml_unlock(&p->announce_lock);
}

void ml_recorder_names_dropped(void)
{
    struct process *p = process;

    if (p)
        atomic_store_explicit(&p->names_dropped, true, memory_order_relaxed);
}

/* The announcement's own records come here too, hence the guard. */
void ml_recorder_announce_again(void)
{
    static __thread bool announcing;
    struct process *p = process;

    if (ML_LIKELY(!atomic_load_explicit(&p->names_dropped, memory_order_relaxed)) || announcing)
        return;
    announcing = true;
    atomic_store_explicit(&p->names_dropped, false, memory_order_relaxed);
    announce_names();
    announcing = false;
}

_Atomic uint64_t *ml_recorder_lost(void)
{
    struct ml_ringset *set = ml_recorder_first_set();

    /* Records after the end of a recording do not count as its losses. */
    if (!ml_recorder_recording())
        return NULL;
    if (set)
        return &set->lost;
    return ml_session ? &ml_session->unrecorded_lost : NULL;
}

/* The ring set in which this process counts losses; NULL: there is none. */
static struct ml_ringset *counting_set(void)
{
    return ml_recorder_recording() ? ml_recorder_first_set() : NULL;
}

void ml_recorder_cannot_follow(void)
{
    struct ml_ringset *set = counting_set();

    if (set)
        atomic_fetch_add_explicit(&set->not_followed, 1, memory_order_relaxed);
}

void ml_recorder_name_folded(void)
{
    struct ml_ringset *set = counting_set();

    if (set)
        atomic_fetch_add_explicit(&set->names_folded, 1, memory_order_relaxed);
}

void ml_recorder_space_refused(void)
{
    struct ml_ringset *set = counting_set();

    if (set)
        atomic_fetch_add_explicit(&set->spaces_refused, 1, memory_order_relaxed);
}

void ml_recorder_detail_lost(void)
{
    struct ml_ringset *set = counting_set();

    if (set)
        atomic_fetch_add_explicit(&set->details_lost, 1, memory_order_relaxed);
}

static void wake_in(struct ml_ringset *set, uint32_t ring_count)
{
    struct ml_ring *rings = rings_of(set);
    uint32_t used = atomic_load_explicit(&set->rings_used, memory_order_acquire);

    for (uint32_t i = 0; i < used && i < ring_count; i++) {
        if (atomic_exchange_explicit(&rings[i].waiting, 0, memory_order_seq_cst))
            syscall(SYS_futex, &rings[i].waiting, FUTEX_WAKE, 1L, NULL, NULL, 0L);
    }
    syscall(SYS_futex, &set->reply_number, FUTEX_WAKE, (long)INT_MAX, NULL, NULL, 0L);
}

void ml_recorder_wake_threads(void)
{
    struct process *p = process;
    uint32_t sets = p ? atomic_load_explicit(&p->sets, memory_order_acquire) : 0;

    for (uint32_t n = p ? p->first_set : 0; n < sets; n++)
        wake_in(p->set[n], p->shape[n].ring_count);
}

struct ml_ringset *ml_recorder_first_set(void)
{
    struct process *p = process;
    /* Read once: another recording may begin meanwhile, whose set does not exist yet. */
    uint32_t first = p ? atomic_load_explicit(&p->first_set, memory_order_relaxed) : 0;

    return p && atomic_load_explicit(&p->sets, memory_order_acquire) > first ? p->set[first] : NULL;
}

bool ml_recorder_read_reply(char *to, size_t bytes)
{
    uint32_t first = atomic_load_explicit(&process->first_set, memory_order_relaxed);

    return ml_set_read_reply(process->set[first], &process->shape[first], to, bytes);
}
