/* saves.c: see saves.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saves.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace_copy.h"

#define AGAIN_NS 60000000000u /* after a copy for the same reason */
#define SUFFIX ".mled"
#define NUMBERS 100000u

static const char *const reasons[ML_SAVE_REASONS] = {"oom", "signal", "growth"};

/* "trace-oom-1.mled" beside "trace.mled", the first that is free. NULL: there is none. */
static char *free_name(const char *trace, const char *reason)
{
    size_t len = strlen(trace), suffix = strlen(SUFFIX);
    char *name;

    if (len > suffix && !strcmp(trace + len - suffix, SUFFIX))
        len -= suffix;
    for (unsigned number = 1; number < NUMBERS; number++) {
        if (asprintf(&name, "%.*s-%s-%u" SUFFIX, (int)len, trace, reason, number) < 0)
            return NULL;
        if (access(name, F_OK) && errno == ENOENT)
            return name;
        free(name);
    }
    return NULL;
}

static void count(struct ml_collector *c, bool saved)
{
    struct ml_session *page = c->session->page;

    atomic_fetch_add(saved ? &page->saves : &page->saves_failed, 1);
}

static void end_copy(struct ml_collector *c, bool wait)
{
    int done = c->saves.child ? ml_trace_copy_done(c->saves.child, wait) : 0;

    if (!done)
        return;
    c->saves.child = 0;
    count(c, done > 0);
}

/* Precondition: no copy is being made. */
static void save(struct ml_collector *c, enum ml_save_reason reason)
{
    struct ml_saves *s = &c->saves;
    char *name;

    if (s->saved_ns[reason] && c->ticks.ns - s->saved_ns[reason] < AGAIN_NS)
        return;
    s->saved_ns[reason] = c->ticks.ns;
    name = free_name(c->writer.path, reasons[reason]);
    if (!name || ml_trace_copy_start(&c->writer, name, &s->child))
        count(c, false);
    free(name);
}

void ml_collector_hear_saves(struct ml_collector *c)
{
    c->saves.heard = atomic_load(&c->session->page->save_requests);
}

void ml_collector_save(struct ml_collector *c)
{
    struct ml_saves *s = &c->saves;

    end_copy(c, false);
    if (!s->child && s->on_oom && c->stage.refusals != s->refusals) {
        s->refusals = c->stage.refusals;
        save(c, ML_SAVE_OOM);
    }
    if (!s->child && s->heard != s->requests) {
        s->requests = s->heard;
        s->saved_ns[ML_SAVE_SIGNAL] = 0; /* each one is wanted */
        save(c, ML_SAVE_SIGNAL);
    }
    if (!s->child && s->growth.grown) {
        s->growth.grown = false;
        save(c, ML_SAVE_GROWTH);
    }
}

void ml_collector_end_saves(struct ml_collector *c)
{
    end_copy(c, true);
}
