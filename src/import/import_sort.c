/* import_sort.c: see import_sort.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "import_sort.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io.h"

#define READ_AT_ONCE 1024 /* events of each run */

void ml_import_sort_release(struct ml_import_sort *s)
{
    for (size_t i = 0; i < s->runs.len; i++)
        free(s->runs.items[i].held);
    ml_vec_release(&s->held);
    ml_vec_release(&s->runs);
    ml_vec_release(&s->heap);
    if (s->runs.len)
        close(s->fd);
    *s = (struct ml_import_sort){0};
}

static int fail(struct ml_import_sort *s, int code)
{
    if (!s->error)
        s->error = code;
    return code;
}

/* ---- Sorting in memory ------------------------------------------------ */

/* Merges [from, middle) and [middle, to); the first comes first at the same time. */
static void merge_halves(const struct ml_event *in, struct ml_event *out, size_t from,
                         size_t middle, size_t to)
{
    size_t a = from, b = middle;

    for (size_t i = from; i < to; i++) {
        bool take_a = a < middle && (b >= to || in[a].time_ns <= in[b].time_ns);

        out[i] = take_a ? in[a++] : in[b++];
    }
}

/* A merge sort, because qsort is not stable. */
static int sort_held(struct ml_import_sort *s)
{
    size_t len = s->held.len;
    struct ml_event *from = s->held.items, *to;

    if (!s->out_of_order)
        return 0;
    to = malloc(len * sizeof(*to));
    if (!to)
        return fail(s, -ENOMEM);
    for (size_t width = 1; width < len; width *= 2) {
        struct ml_event *swap = from;

        for (size_t i = 0; i < len; i += 2 * width) {
            size_t middle = i + width < len ? i + width : len;
            size_t end = i + 2 * width < len ? i + 2 * width : len;

            merge_halves(from, to, i, middle, end);
        }
        from = to;
        to = swap;
    }
    free(to);
    s->held.items = from;
    s->held.cap = len; /* `from` may be the copy, whose capacity is len */
    s->out_of_order = false;
    return 0;
}

/* ---- Writing runs ------------------------------------------------------- */

/* A file that disappears when it is closed, or -errno. */
static int open_nameless(void)
{
    const char *dir = getenv("TMPDIR");
    char path[PATH_MAX];
    int fd;

    if (snprintf(path, sizeof(path), "%s/memledger-XXXXXX", dir && *dir ? dir : "/var/tmp") >=
        (int)sizeof(path))
        return -ENAMETOOLONG;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    unlink(path);
    return fd;
}

static int put_aside(struct ml_import_sort *s)
{
    struct ml_sort_run run = {.at = s->written, .end = s->written + s->held.len};
    int r = sort_held(s);

    if (r < 0)
        return r;
    if (ml_vec_reserve(&s->runs, 1) < 0)
        return fail(s, -ENOMEM);
    if (s->runs.len == 0) {
        s->fd = open_nameless();
        if (s->fd < 0)
            return fail(s, s->fd);
    }
    (void)ml_vec_push(&s->runs, run);
    r = ml_write_all(s->fd, s->held.items, s->held.len * sizeof(*s->held.items));
    if (r < 0)
        return fail(s, r);
    s->written = run.end;
    ml_vec_clear(&s->held);
    return 0;
}

int ml_import_sort_add(struct ml_import_sort *s, const struct ml_event *event)
{
    if (s->error)
        return s->error;
    if (s->held.len == ML_IMPORT_SORT_HELD && put_aside(s) < 0)
        return s->error;
    if (s->held.len && event->time_ns < s->held.items[s->held.len - 1].time_ns)
        s->out_of_order = true;
    return ml_vec_push(&s->held, *event) < 0 ? fail(s, -ENOMEM) : 0;
}

/* ---- Reading back -------------------------------------------------------- */

/* Makes sure that the run's next event is in memory; false at its end. */
static bool refill(struct ml_import_sort *s, struct ml_sort_run *run)
{
    uint64_t left = run->end - run->at;
    uint32_t count = left < READ_AT_ONCE ? (uint32_t)left : READ_AT_ONCE;
    int r;

    if (run->next < run->count)
        return true;
    if (count == 0)
        return false;
    if (!run->held && !(run->held = malloc(READ_AT_ONCE * sizeof(*run->held)))) {
        fail(s, -ENOMEM);
        return false;
    }
    r = ml_pread_all(s->fd, run->held, count * sizeof(*run->held), run->at * sizeof(*run->held));
    if (r < 0) {
        fail(s, r);
        return false;
    }
    run->at += count;
    run->next = 0;
    run->count = count;
    return true;
}

/* At equal times, runs are ordered by number, the order in which events were added. */
static bool is_before(const struct ml_import_sort *s, uint32_t a, uint32_t b)
{
    const struct ml_sort_run *x = &s->runs.items[a], *y = &s->runs.items[b];
    uint64_t at_x = x->held[x->next].time_ns, at_y = y->held[y->next].time_ns;

    return at_x != at_y ? at_x < at_y : a < b;
}

static void sink_down(struct ml_import_sort *s, size_t i)
{
    uint32_t *heap = s->heap.items;

    for (;;) {
        size_t child = 2 * i + 1;
        uint32_t swap;

        if (child >= s->heap.len)
            return;
        if (child + 1 < s->heap.len && is_before(s, heap[child + 1], heap[child]))
            child++;
        if (!is_before(s, heap[child], heap[i]))
            return;
        swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
        i = child;
    }
}

static int start_reading(struct ml_import_sort *s)
{
    s->reading = true;
    if (s->runs.len == 0)
        return sort_held(s);
    if (put_aside(s) < 0)
        return s->error;
    ml_vec_release(&s->held);
    for (uint32_t i = 0; i < s->runs.len; i++)
        if (refill(s, &s->runs.items[i]) && ml_vec_push(&s->heap, i) < 0)
            return fail(s, -ENOMEM);
    for (size_t i = s->heap.len / 2; i-- > 0;)
        sink_down(s, i);
    return s->error;
}

static bool next_of_runs(struct ml_import_sort *s, struct ml_event *ret)
{
    struct ml_sort_run *run;

    if (s->heap.len == 0)
        return false;
    run = &s->runs.items[s->heap.items[0]];
    *ret = run->held[run->next++];
    if (!refill(s, run))
        s->heap.items[0] = s->heap.items[--s->heap.len];
    sink_down(s, 0);
    return s->error == 0;
}

bool ml_import_sort_next(struct ml_import_sort *s, struct ml_event *ret)
{
    if (s->error || (!s->reading && start_reading(s) < 0))
        return false;
    if (s->runs.len)
        return next_of_runs(s, ret);
    if (s->next >= s->held.len)
        return false;
    *ret = s->held.items[s->next++];
    return true;
}
