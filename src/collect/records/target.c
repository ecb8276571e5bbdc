/* target.c: adding and removing processes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "place.h"
#include "source_stacks.h"

#define PAGE_BYTES 4096u
#define POPULATE_WRITE 23 /* MADV_POPULATE_WRITE, which old headers lack */
#define RING_BYTES_MAX (256u << 20)
#define RING_COUNT_MAX 4096u

static uint32_t define_process(const struct ml_hello *hello, uint32_t pid, int64_t parent,
                               uint32_t how, uint64_t start_ns, const struct ml_role *role,
                               struct ml_dict *dict)
{
    uint64_t fields[ML_DEF_FIELDS] = {
        [ML_PROCESS_PID] = pid,
        [ML_PROCESS_PARENT] = (uint64_t)(parent + 1),
        [ML_PROCESS_HOW] = how,
        [ML_PROCESS_START_NS] = start_ns,
        [ML_PROCESS_COMMAND] =
            ml_dict_string(dict, hello->command, strnlen(hello->command, sizeof(hello->command))),
        [ML_PROCESS_ROLE] =
            role->text[0] ? ml_dict_string(dict, role->text, strlen(role->text)) : 0,
    };
    return ml_dict_add(dict, ML_DEF_PROCESS, fields);
}

struct ml_target *ml_target_new(const struct ml_hello *hello, uint32_t pid, int64_t parent,
                                uint32_t how, uint64_t start_ns, struct ml_dict *dict)
{
    struct ml_target *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->pid = pid;
    t->foreign = hello->pid != pid;
    t->own_pid = hello->pid;
    t->pidfd = -1;
    ml_role_find(hello, parent, how, dict, &t->role);
    t->process = define_process(hello, pid, parent, how, start_ns, &t->role, dict);
    ml_place_begin(t, hello, dict);
    return t;
}

void ml_target_watch(struct ml_target *t, int *pidfd)
{
    t->pidfd = *pidfd;
    *pidfd = -1;
    if (t->pidfd >= 0)
        return;
    t->pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
    /* It has died: the pid may have been reused. */
    t->dead = t->pidfd < 0 && errno == ESRCH;
}

static void release_source(struct ml_source *s)
{
    ml_vec_release(&s->left);
    ml_source_stacks_free(s->stacks);
}

static void release_set(struct ml_target_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        release_source(&set->sources[i]);
    free(set->sources);
    munmap(set->shared, set->bytes);
}

void ml_target_free(struct ml_target *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->sets.len; i++)
        release_set(&t->sets.items[i]);
    if (t->pidfd >= 0)
        close(t->pidfd);
    ml_profile_free(t->profile);
    ml_vec_release(&t->sets);
    ml_vec_release(&t->strings);
    ml_vec_release(&t->spaces);
    ml_vec_release(&t->objects);
    ml_vec_release(&t->counters);
    ml_vec_release(&t->stacks);
    ml_vec_release(&t->python_frames);
    ml_tapes_release(&t->tapes);
    ml_backward_release(&t->backward);
    ml_works_release(&t->works);
    ml_expected_release(&t->expected);
    ml_outputs_release(&t->waiting);
    ml_vec_release(&t->libraries);
    ml_map_release(&t->frames);
    free(t);
}

/* A file that can shrink would let a target kill us with SIGBUS. */
static bool is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && seals & F_SEAL_SHRINK;
}

static bool plausible(uint32_t ring_bytes, uint32_t ring_count, size_t bytes)
{
    return ring_bytes >= 4096 && ring_bytes <= RING_BYTES_MAX && !(ring_bytes & (ring_bytes - 1)) &&
           ring_count && ring_count <= RING_COUNT_MAX &&
           ml_ringset_bytes(ring_bytes, ring_count) == bytes;
}

static void init_sources(struct ml_target *t, const struct ml_target_set *set, uint32_t ring_bytes)
{
    char *base = (char *)set->shared;
    struct ml_ring *rings = (struct ml_ring *)(void *)(base + ml_ringset_rings_offset());
    char *data = base + ml_ringset_data_offset(set->count);

    for (uint32_t i = 0; i < set->count; i++) {
        set->sources[i] = (struct ml_source){
            .target = t,
            .ring = &rings[i],
            .data = (const uint64_t *)(void *)(data + (size_t)i * ring_bytes),
            .mask = ring_bytes / sizeof(uint64_t) - 1,
        };
        atomic_store_explicit(&rings[i].owner, ML_RING_TAKEN, memory_order_relaxed);
    }
}

int ml_target_add_set(struct ml_target *t, int fd)
{
    struct ml_target_set set = {0};
    uint32_t ring_bytes;
    struct stat st;

    /* In this order: a sealed file keeps the size that it has then. */
    if (!is_sealed(fd) || fstat(fd, &st) || (size_t)st.st_size < sizeof(struct ml_ringset))
        return -EINVAL;
    set.bytes = (size_t)st.st_size;
    set.shared = mmap(NULL, set.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (set.shared == MAP_FAILED)
        return -errno;
    /* Read once: the target may change them at any time. */
    set.count = __atomic_load_n(&set.shared->ring_count, __ATOMIC_RELAXED);
    ring_bytes = __atomic_load_n(&set.shared->ring_bytes, __ATOMIC_RELAXED);
    if (set.shared->magic == ML_SHARED_MAGIC && set.shared->version == ML_SHARED_VERSION &&
        plausible(ring_bytes, set.count, set.bytes)) {
        set.reply = (char *)set.shared + ml_ringset_reply_offset(ring_bytes, set.count);
        set.sources = calloc(set.count, sizeof(*set.sources));
    }
    if (!set.sources || ml_vec_push(&t->sets, set)) {
        free(set.sources);
        munmap(set.shared, set.bytes);
        return -EINVAL;
    }
    init_sources(t, &set, ring_bytes);
    return 0;
}

void ml_target_set_look(struct ml_target_set *set)
{
    /* Pairs with the target's release: a reader that has seen a record of the ring has seen this.
     */
    uint32_t used = atomic_load_explicit(&set->shared->rings_used, memory_order_acquire);

    set->used = (uint32_t)ml_max_u64(set->used, ml_min_u64(used, set->count));
}

bool ml_target_running(const struct ml_target *t)
{
    struct pollfd p = {.fd = t->pidfd, .events = POLLIN};

    if (t->pidfd >= 0)
        return poll(&p, 1, 0) == 0;
    return !kill((pid_t)t->pid, 0) || errno == EPERM;
}

void ml_target_want_calls(struct ml_target *t, bool wanted)
{
    if (t->sets.len)
        atomic_store_explicit(&t->sets.items[0].shared->calls_wanted, wanted, memory_order_relaxed);
}

/* If the kernel has no memory for a page of the set, a store there would raise SIGBUS; see
 * ring_pages.h of the recorder. Kernels before 5.14 cannot be asked. */
static bool has_pages(void *at, size_t bytes)
{
    return !madvise(at, (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES, POPULATE_WRITE) ||
           errno == EINVAL;
}

void ml_target_reply(struct ml_target *t, uint32_t number, int status, const void *text,
                     size_t bytes)
{
    struct ml_ringset *set = t->sets.items[0].shared;
    char *reply = t->sets.items[0].reply;

    if (bytes > ML_REPLY_BYTES - 1)
        bytes = ML_REPLY_BYTES - 1;
    if (has_pages(reply, bytes + 1)) {
        memcpy(reply, text, bytes);
        reply[bytes] = '\0';
    } else {
        bytes = 0;
        status = -ENOMEM;
    }
    set->reply_bytes = (uint32_t)bytes;
    set->reply_status = status;
    /* Pairs with the acquire load of the waiting thread. */
    atomic_store_explicit(&set->reply_number, number, memory_order_release);
    syscall(SYS_futex, &set->reply_number, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
