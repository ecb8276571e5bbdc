/* memledger.h: tell memledger what your program does with memory.
 *
 * Include this header and call it; link nothing. Under `memledger run` the calls reach the
 * recorder; elsewhere each one costs a load and a branch and does nothing. Works in C99 and C++
 * and needs no other header of the project.
 *
 *     memledger_space pool = memledger_space_open("cpu", MEMLEDGER_BLOCK, "my arena");
 *     memledger_push("encoder.layer0");
 *     memledger_alloc(pool, p, 4096);
 *     memledger_label(pool, p, "weight", MEMLEDGER_PARAMETER);
 *     memledger_pop();
 *     memledger_free(pool, p);
 *
 * Every function may be called from any thread, from a signal handler and in a forked child.
 * Reporting functions return nothing and never fail. Control functions return 0, or -1 with the
 * reason in memledger_last_error(). Strings are copied. docs/api.md has the guide.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MEMLEDGER_MEMLEDGER_H
#define MEMLEDGER_MEMLEDGER_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMLEDGER_API_VERSION 1

/* One allocator on one device. 0 is not a space: calls with it are ignored. */
typedef uint32_t memledger_space;

/* A domain, task, frame, event or counter. 0 is not an object: calls with it return -1. */
typedef uint64_t memledger_object;

/* Levels nest: the pool segment that contains a block's address contains the block, and an
 * allocation of the driver contains the segment. */
enum memledger_level {
    MEMLEDGER_DRIVER = 1, /* memory from the operating system or the GPU driver */
    MEMLEDGER_POOL = 2,   /* a segment that a pool keeps and splits */
    MEMLEDGER_BLOCK = 3,  /* memory that the program requested */
};

enum memledger_category {
    MEMLEDGER_OTHER = 0,
    MEMLEDGER_PARAMETER = 1,
    MEMLEDGER_BUFFER = 2,
    MEMLEDGER_GRADIENT = 3,
    MEMLEDGER_OPTIMIZER_STATE = 4,
    MEMLEDGER_ACTIVATION = 5,
    MEMLEDGER_INTERMEDIATE_GRADIENT = 6,
    MEMLEDGER_INPUT = 7,
    MEMLEDGER_TEMPORARY = 8,
    MEMLEDGER_WORKSPACE = 9,      /* scratch memory of a library, such as cuBLAS */
    MEMLEDGER_KV_CACHE = 10,      /* keys and values that a model keeps while it generates */
    MEMLEDGER_GATHERED = 11,      /* whole weights, put together from those of all ranks */
    MEMLEDGER_COMMUNICATION = 12, /* what ranks exchange: buckets, buffers of collectives */
};

enum memledger_scope_kind {
    MEMLEDGER_SCOPE_USER = 0,
    MEMLEDGER_SCOPE_MODULE = 1,
    MEMLEDGER_SCOPE_OPERATOR = 2,
    MEMLEDGER_SCOPE_PHASE = 3,
    MEMLEDGER_SCOPE_NVTX = 4,
};

enum memledger_mark_kind {
    MEMLEDGER_MARK_STEP = 0,
    MEMLEDGER_MARK_EPOCH = 1,
    MEMLEDGER_MARK_PHASE = 2,
};

enum memledger_object_kind {
    MEMLEDGER_DOMAIN = 1,
    MEMLEDGER_TASK = 2,
    MEMLEDGER_FRAME = 3,
    MEMLEDGER_EVENT = 4,
    MEMLEDGER_COUNTER = 5,
};

enum memledger_state { MEMLEDGER_STOP = 0, MEMLEDGER_RUN = 1 };

/* The processes that a control call addresses: this one, or every process of the same
 * `memledger run` whose DMLC_ROLE is "server". */
enum memledger_process { MEMLEDGER_WORKER = 0, MEMLEDGER_SERVER = 1 };

enum memledger_stats_format { MEMLEDGER_TABLE = 0, MEMLEDGER_JSON = 1 };

enum memledger_stats_sort {
    MEMLEDGER_BY_TOTAL = 0,
    MEMLEDGER_BY_AVG = 1,
    MEMLEDGER_BY_MIN = 2,
    MEMLEDGER_BY_MAX = 3,
    MEMLEDGER_BY_COUNT = 4,
};

/* The long form of memledger_alloc. Zero the struct, set struct_bytes to
 * sizeof, fill in what is known. */
struct memledger_alloc_info {
    size_t struct_bytes;
    const void *ptr;
    size_t bytes;           /* the size of the block */
    size_t requested_bytes; /* the requested size; 0: the same */
    uint64_t stream;        /* the stream it was allocated for; 0: none */
};

/* The table behind the functions below, exported by the recorder under the
 * name "memledger_api_v1". Later versions only append. */
struct memledger_api {
    uint32_t version;
    uint32_t struct_bytes;
    memledger_space (*space_open)(const char *device, int level, const char *name);
    void (*alloc)(memledger_space, const void *ptr, size_t bytes);
    void (*alloc_ex)(memledger_space, const struct memledger_alloc_info *);
    void (*free)(memledger_space, const void *ptr);
    void (*free_range)(memledger_space, const void *ptr, size_t bytes);
    void (*resize)(memledger_space, const void *old_ptr, const void *new_ptr, size_t bytes);
    void (*label)(memledger_space, const void *ptr, const char *name, int category);
    void (*push)(int kind, const char *name);
    void (*pop)(void);
    void (*mark)(int kind, uint64_t number, const char *name);
    int (*set_config)(int n, const char *const *keys, const char *const *vals);
    int (*set_state)(int state, int process);
    int (*pause)(int paused, int process);
    int (*dump)(int finished, int process);
    int (*stats)(const char **ret_text, int reset, int format, int sort_by, int ascending);
    const char *(*last_error)(void);
    memledger_object (*create)(int kind, memledger_object domain, const char *name);
    int (*destroy)(memledger_object);
    int (*start)(memledger_object);
    int (*stop)(memledger_object);
    int (*counter_set)(memledger_object, uint64_t value);
    int (*counter_adjust)(memledger_object, int64_t delta);
    int (*marker)(memledger_object domain, const char *name, const char *scope);
};

/* glibc before 2.34 keeps dlsym in libdl; weak, so that a program need not link libdl, which
 * the recorder loads. */
#pragma weak dlsym

/* The recorder's table, or NULL without a recorder. Looked up once. */
static inline const struct memledger_api *memledger_find(void)
{
    static struct memledger_api absent;
    static const struct memledger_api *cached;
    const struct memledger_api *api = __atomic_load_n(&cached, __ATOMIC_ACQUIRE);

    if (!api) {
        /* NULL is RTLD_DEFAULT, which needs _GNU_SOURCE to have a name. */
        api = dlsym ? (const struct memledger_api *)dlsym(NULL, "memledger_api_v1") : NULL;
        if (!api)
            api = &absent;
        __atomic_store_n(&cached, api, __ATOMIC_RELEASE);
    }
    return api->version ? api : NULL;
}

/* 1 if calls are recorded, 0 if they do nothing. */
static inline int memledger_active(void)
{
    return memledger_find() != NULL;
}

/* ---- Report ------------------------------------------------------------ */

/* The space of that device ("cpu", "cuda:0"), level and allocator name; created on first use.
 * Keep the number: another lookup costs a hash. */
static inline memledger_space memledger_space_open(const char *device, enum memledger_level level,
                                                   const char *name)
{
    const struct memledger_api *api = memledger_find();
    return api ? api->space_open(device, (int)level, name) : 0;
}

/* Call after the allocator has returned `ptr`. A pool's segment is an allocation in a space of
 * level MEMLEDGER_POOL. */
static inline void memledger_alloc(memledger_space space, const void *ptr, size_t bytes)
{
    const struct memledger_api *api = memledger_find();
    if (api)
        api->alloc(space, ptr, bytes);
}

static inline void memledger_alloc_ex(memledger_space space,
                                      const struct memledger_alloc_info *info)
{
    const struct memledger_api *api = memledger_find();
    if (api)
        api->alloc_ex(space, info);
}

/* Call before the allocator frees `ptr`, so that no other thread can get the same address
 * first. */
static inline void memledger_free(memledger_space space, const void *ptr)
{
    const struct memledger_api *api = memledger_find();
    if (api)
        api->free(space, ptr);
}

/* Frees [ptr, ptr + bytes), which may contain several blocks and parts of blocks. */
static inline void memledger_free_range(memledger_space space, const void *ptr, size_t bytes)
{
    const struct memledger_api *api = memledger_find();
    if (api)
        api->free_range(space, ptr, bytes);
}

/* `old_ptr` became `new_ptr` (often the same) with a new size. */
static inline void memledger_resize(memledger_space space, const void *old_ptr, const void *new_ptr,
                                    size_t bytes)
{
    const struct memledger_api *api = memledger_find();
    if (api)
        api->resize(space, old_ptr, new_ptr, bytes);
}

/* Names the live block at `ptr`. A later label replaces an earlier one. */
static inline void memledger_label(memledger_space space, const void *ptr, const char *name,
                                   enum memledger_category category)
{
    const struct memledger_api *api = memledger_find();
    if (api)
        api->label(space, ptr, name, (int)category);
}

/* ---- Scopes and marks -------------------------------------------------- */

/* Allocations of this thread until the matching pop belong to the scope. */
static inline void memledger_push_kind(enum memledger_scope_kind kind, const char *name)
{
    const struct memledger_api *api = memledger_find();
    if (api)
        api->push((int)kind, name);
}

static inline void memledger_push(const char *name)
{
    memledger_push_kind(MEMLEDGER_SCOPE_USER, name);
}

/* A pop without a push is ignored. */
static inline void memledger_pop(void)
{
    const struct memledger_api *api = memledger_find();
    if (api)
        api->pop();
}

/* Step or epoch `number` begins now; a phase ("forward", "backward",
 * "optimizer") begins now. */
static inline void memledger_step(uint64_t number)
{
    const struct memledger_api *api = memledger_find();
    if (api)
        api->mark(MEMLEDGER_MARK_STEP, number, "");
}

static inline void memledger_epoch(uint64_t number)
{
    const struct memledger_api *api = memledger_find();
    if (api)
        api->mark(MEMLEDGER_MARK_EPOCH, number, "");
}

static inline void memledger_phase(const char *name)
{
    const struct memledger_api *api = memledger_find();
    if (api)
        api->mark(MEMLEDGER_MARK_PHASE, 0, name);
}

/* ---- Control ----------------------------------------------------------- */

/* Sets n keys. All are checked first: on an unknown key or a bad value nothing
 * is set. docs/api.md lists keys, values and defaults. */
static inline int memledger_set_config(int n, const char *const *keys, const char *const *vals)
{
    const struct memledger_api *api = memledger_find();
    return api ? api->set_config(n, keys, vals) : 0;
}

/* MEMLEDGER_RUN starts the profile file and the statistics; MEMLEDGER_STOP ends them. Memory is
 * always recorded: a ledger with gaps would not balance. */
static inline int memledger_set_process_state(enum memledger_state state,
                                              enum memledger_process process)
{
    const struct memledger_api *api = memledger_find();
    return api ? api->set_state((int)state, (int)process) : 0;
}

static inline int memledger_set_state(enum memledger_state state)
{
    return memledger_set_process_state(state, MEMLEDGER_WORKER);
}

/* Between pause and resume, tasks, frames, events, counters and markers are dropped. Calls do
 * not nest. */
static inline int memledger_pause_process(int paused, enum memledger_process process)
{
    const struct memledger_api *api = memledger_find();
    return api ? api->pause(paused, (int)process) : 0;
}

static inline int memledger_pause(void)
{
    return memledger_pause_process(1, MEMLEDGER_WORKER);
}

static inline int memledger_resume(void)
{
    return memledger_pause_process(0, MEMLEDGER_WORKER);
}

/* Returns once the profile file contains everything recorded so far. It is valid JSON after
 * every dump; `finished` ends it. */
static inline int memledger_dump_process(int finished, enum memledger_process process)
{
    const struct memledger_api *api = memledger_find();
    return api ? api->dump(finished, (int)process) : 0;
}

static inline int memledger_dump(int finished)
{
    return memledger_dump_process(finished, MEMLEDGER_WORKER);
}

/* Aggregate statistics since the start or the last reset. *ret_text stays valid until this
 * thread's next call; "" without a recorder. */
static inline int memledger_stats(const char **ret_text, int reset,
                                  enum memledger_stats_format format,
                                  enum memledger_stats_sort sort_by, int ascending)
{
    const struct memledger_api *api = memledger_find();
    if (api)
        return api->stats(ret_text, reset, (int)format, (int)sort_by, ascending);
    *ret_text = "";
    return 0;
}

/* Why this thread's last control or object call returned -1. */
static inline const char *memledger_last_error(void)
{
    const struct memledger_api *api = memledger_find();
    return api ? api->last_error() : "";
}

/* ---- Objects ----------------------------------------------------------- */

static inline memledger_object memledger_create(enum memledger_object_kind kind,
                                                memledger_object domain, const char *name)
{
    const struct memledger_api *api = memledger_find();
    return api ? api->create((int)kind, domain, name) : 0;
}

static inline memledger_object memledger_domain(const char *name)
{
    return memledger_create(MEMLEDGER_DOMAIN, 0, name);
}

static inline memledger_object memledger_task(memledger_object domain, const char *name)
{
    return memledger_create(MEMLEDGER_TASK, domain, name);
}

static inline memledger_object memledger_frame(memledger_object domain, const char *name)
{
    return memledger_create(MEMLEDGER_FRAME, domain, name);
}

static inline memledger_object memledger_event(const char *name)
{
    return memledger_create(MEMLEDGER_EVENT, 0, name);
}

static inline memledger_object memledger_counter(memledger_object domain, const char *name)
{
    return memledger_create(MEMLEDGER_COUNTER, domain, name);
}

/* Ends the handle; its records stay. Domains cannot be destroyed. */
static inline int memledger_destroy(memledger_object object)
{
    const struct memledger_api *api = memledger_find();
    return api ? api->destroy(object) : 0;
}

/* Tasks, frames and events have a duration: start and stop it on the same thread. */
static inline int memledger_start(memledger_object object)
{
    const struct memledger_api *api = memledger_find();
    return api ? api->start(object) : 0;
}

static inline int memledger_stop(memledger_object object)
{
    const struct memledger_api *api = memledger_find();
    return api ? api->stop(object) : 0;
}

static inline int memledger_counter_set(memledger_object counter, uint64_t value)
{
    const struct memledger_api *api = memledger_find();
    return api ? api->counter_set(counter, value) : 0;
}

static inline int memledger_counter_adjust(memledger_object counter, int64_t delta)
{
    const struct memledger_api *api = memledger_find();
    return api ? api->counter_adjust(counter, delta) : 0;
}

/* An instant. `scope` is "global", "process", "thread", "task" or "marker". */
static inline int memledger_marker(memledger_object domain, const char *name, const char *scope)
{
    const struct memledger_api *api = memledger_find();
    return api ? api->marker(domain, name, scope) : 0;
}

#ifdef __cplusplus
}
#endif

#endif
