/* calls_quietly.c: calls every function of memledger.h and checks after each whether errno
 * changed or malloc was called. Prints the names of those that did either.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "memledger/memledger.h"

#define WANTED 4711

static int changed;

/* ---- The malloc family, counted ----------------------------------------- */

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);

static __thread unsigned mallocs;

void *malloc(size_t bytes)
{
    mallocs++;
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    mallocs++;
    return __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    mallocs++;
    return __libc_realloc(block, bytes);
}

/* ---- The functions ------------------------------------------------------- */

static void complain(const char *what, const char *call)
{
    printf("%s %s\n", call, what);
    changed = 1;
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        unsigned mallocs_before = mallocs;                                                         \
        errno = WANTED;                                                                            \
        call;                                                                                      \
        if (errno != WANTED)                                                                       \
            complain("changes errno", #call);                                                      \
        if (mallocs != mallocs_before)                                                             \
            complain("calls malloc", #call);                                                       \
    } while (0)

static void reports(void *block)
{
    struct memledger_alloc_info info = {sizeof(info), block, 64, 60, 1};
    memledger_space space = 0;
    memledger_space pool = 0;

    TRY(space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "errno"));
    TRY(pool = memledger_space_open("cpu", MEMLEDGER_POOL, "errno pool"));
    TRY(memledger_alloc(pool, block, 4096));
    TRY(memledger_alloc(space, block, 64));
    TRY(memledger_label(space, block, "label", MEMLEDGER_BUFFER));
    TRY(memledger_resize(space, block, block, 128));
    TRY(memledger_free(space, block));
    TRY(memledger_alloc_ex(space, &info));
    TRY(memledger_free_range(space, block, 64));
    TRY(memledger_free(pool, block));
    TRY(memledger_push("scope"));
    TRY(memledger_push_kind(MEMLEDGER_SCOPE_OPERATOR, "operator"));
    TRY(memledger_pop());
    TRY(memledger_pop());
    TRY(memledger_pop());
    TRY(memledger_step(1));
    TRY(memledger_epoch(1));
    TRY(memledger_phase("forward"));
    TRY(memledger_alloc(0, block, 1));
    TRY(memledger_alloc(space, NULL, 1));
}

static void control(void)
{
    const char *keys[] = {"aggregate_stats", "filename"};
    const char *values[] = {"true", "errno-profile.json"};
    const char *bad_keys[] = {"no_such_key"};
    const char *text;

    TRY(memledger_set_config(2, keys, values));
    TRY(memledger_set_config(1, bad_keys, values));
    TRY(memledger_last_error());
    TRY(memledger_set_state(MEMLEDGER_RUN));
    TRY(memledger_pause());
    TRY(memledger_resume());
    TRY(memledger_stats(&text, 0, MEMLEDGER_JSON, MEMLEDGER_BY_TOTAL, 0));
    TRY(memledger_dump(0));
}

static void objects(void)
{
    memledger_object domain = 0, task = 0, counter = 0, event = 0, frame = 0;

    TRY(domain = memledger_domain("domain"));
    TRY(task = memledger_task(domain, "task"));
    TRY(frame = memledger_frame(domain, "frame"));
    TRY(event = memledger_event("event"));
    TRY(counter = memledger_counter(domain, "counter"));
    TRY(memledger_start(task));
    TRY(memledger_stop(task));
    TRY(memledger_start(frame));
    TRY(memledger_start(event));
    TRY(memledger_stop(event));
    TRY(memledger_counter_set(counter, 7));
    TRY(memledger_counter_adjust(counter, -2));
    TRY(memledger_marker(domain, "marker", "process"));
    TRY(memledger_marker(domain, "marker", "nowhere"));
    TRY(memledger_destroy(task));
    TRY(memledger_destroy(task));
}

static void *all(void *block)
{
    reports(block);
    control();
    objects();
    return NULL;
}

/* A ring's worth, so that the recorder has to wait for the collector too. */
static void many(void)
{
    memledger_space space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "errno");

    for (uintptr_t i = 1; i < 300000; i++)
        TRY(memledger_alloc(space, (void *)(i * 16), 16));
}

int main(void)
{
    pthread_t thread;

    all((void *)0x10000);
    many();
    pthread_create(&thread, NULL, all, (void *)0x20000);
    pthread_join(thread, NULL);
    return changed;
}
