/* steps.c: see steps.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "steps.h"

#include <errno.h>
#include <string.h>

#include "memledger/memledger.h"

static void count_calls(const struct ml_replay *replay, uint64_t *ret_allocations,
                        uint64_t *ret_frees)
{
    *ret_allocations = *ret_frees = 0;
    for (size_t i = 0; i < replay->spaces.len; i++) {
        const struct ml_replay_space *s = &replay->spaces.items[i];

        *ret_allocations += s->counted ? s->allocations : 0;
        *ret_frees += s->counted ? s->frees : 0;
    }
}

/* Devices without memory in the step are left out. */
static int add_devices(struct ml_step_book *book, struct ml_step *step)
{
    const struct ml_replay *replay = book->replay;
    struct ml_steps *steps = book->steps;

    step->first_device = steps->devices.len;
    for (size_t i = 0; i < replay->devices.len; i++) {
        struct ml_step_device device = {(uint32_t)i, replay->devices.items[i].crest_bytes};

        if (device.peak_bytes == 0)
            continue;
        if (ml_vec_push(&steps->devices, device) < 0)
            return -ENOMEM;
        step->device_count++;
    }
    return 0;
}

static int name_devices(const struct ml_replay *replay, struct ml_steps *steps)
{
    for (size_t i = 0; i < replay->devices.len; i++) {
        size_t len;
        const char *name = ml_intern_get(&replay->device_names, (uint32_t)i, &len);
        const char *copy = ml_arena_dup(&steps->arena, name, len);

        if (!copy || ml_vec_push(&steps->device_names, copy) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int end_step(struct ml_step_book *book, uint64_t event, uint64_t time_ns)
{
    const struct ml_replay *replay = book->replay;
    struct ml_step *step = &book->steps->list.items[book->steps->list.len - 1];
    uint64_t allocations, frees;

    count_calls(replay, &allocations, &frees);
    step->end_ns = time_ns;
    step->end_event = event;
    step->end_bytes = replay->bytes.live_bytes;
    step->peak_bytes = replay->crest.bytes;
    step->peak_time_ns = replay->crest.time_ns;
    step->peak_event = replay->crest.event;
    step->allocations = allocations - book->allocations;
    step->frees = frees - book->frees;
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        step->category_bytes[i] = replay->crest.categories[i];
    book->open = false;
    return add_devices(book, step);
}

static int begin_step(struct ml_step_book *book, const struct ml_event *event)
{
    struct ml_step step = {.number = event->args[1], .begin_ns = event->time_ns};

    if (ml_vec_push(&book->steps->list, step) < 0)
        return -ENOMEM;
    count_calls(book->replay, &book->allocations, &book->frees);
    ml_replay_reset_crest(book->replay, event->time_ns);
    book->open = true;
    return 0;
}

bool ml_step_is_automatic(const struct ml_trace *trace, const struct ml_event *mark)
{
    return !strcmp(ml_trace_string(trace, (uint32_t)mark->args[2], NULL), ML_STEP_AUTOMATIC);
}

/* The first step that the program tells of. */
static void take_over(struct ml_step_book *book, uint64_t number)
{
    struct ml_steps *steps = book->steps;

    book->told = true;
    while (steps->list.len > 0 && steps->list.items[steps->list.len - 1].number >= number)
        steps->list.len--;
    if (steps->list.len == 0)
        steps->peak_before_bytes = book->replay->bytes.peak_bytes;
}

static int on_step(struct ml_step_book *book, const struct ml_event *event)
{
    uint32_t process = ml_trace_thread(book->replay->trace, event->thread)->process;
    int r = 0;

    if (book->steps->list.len == 0) {
        book->process = process;
        book->steps->peak_before_bytes = book->replay->bytes.peak_bytes;
    }
    if (process != book->process)
        return 0;
    if (book->open)
        r = end_step(book, book->replay->events - 1, event->time_ns);
    if (!book->told && !ml_step_is_automatic(book->replay->trace, event))
        take_over(book, event->args[1]);
    return r < 0 ? r : begin_step(book, event);
}

void ml_step_book_mark(struct ml_step_book *book, const struct ml_event *event)
{
    if (book->failed < 0)
        return;
    if (event->kind == ML_MARK && event->args[0] == MEMLEDGER_MARK_STEP)
        book->failed = on_step(book, event);
    else if (event->kind == ML_PROCESS_END && book->open && event->args[0] == book->process)
        book->failed = end_step(book, book->replay->events - 1, event->time_ns);
}

/* What ends a step begins the next: behind the last there is one that does nothing. */
static void drop_idle_end(struct ml_steps *steps)
{
    size_t n = steps->list.len;

    if (n > 1 && steps->list.items[n - 1].allocations == 0)
        steps->list.len--;
}

int ml_step_book_close(struct ml_step_book *book)
{
    const struct ml_replay *replay = book->replay;

    if (book->open && book->failed == 0)
        book->failed = end_step(book, replay->events, ml_trace_info(replay->trace)->end_ns);
    drop_idle_end(book->steps);
    if (book->steps->list.len > 0 && book->failed == 0)
        book->failed = name_devices(replay, book->steps);
    return book->failed;
}

static void on_mark(void *ctx, const struct ml_event *event)
{
    ml_step_book_mark(ctx, event);
}

int ml_steps_read(const struct ml_trace *trace, const struct ml_classes *classes,
                  struct ml_steps *ret, struct ml_error *err)
{
    struct ml_replay replay;
    struct ml_step_book book = {.replay = &replay, .steps = ret};
    int closed, r = ml_replay_init(&replay, trace);

    *ret = (struct ml_steps){0};
    ml_replay_classify(&replay, classes);
    replay.on_mark = on_mark;
    replay.ctx = &book;
    if (r < 0)
        ml_error_set(err, r, "out of memory");
    else
        r = ml_replay_trace(&replay, UINT64_MAX, err);
    closed = ml_step_book_close(&book);
    if (r == 0 && closed < 0)
        r = ml_error_set(err, closed, "out of memory");
    ml_replay_release(&replay);
    return r;
}

void ml_steps_release(struct ml_steps *steps)
{
    ml_arena_release(&steps->arena);
    ml_vec_release(&steps->list);
    ml_vec_release(&steps->devices);
    ml_vec_release(&steps->device_names);
    *steps = (struct ml_steps){0};
}

const struct ml_step *ml_steps_find(const struct ml_steps *steps, uint64_t number)
{
    for (size_t i = 0; i < steps->list.len; i++)
        if (steps->list.items[i].number == number)
            return &steps->list.items[i];
    return NULL;
}

const struct ml_step *ml_steps_highest(const struct ml_steps *steps)
{
    const struct ml_step *highest = steps->list.len ? &steps->list.items[0] : NULL;

    for (size_t i = 1; i < steps->list.len; i++)
        if (steps->list.items[i].peak_bytes > highest->peak_bytes)
            highest = &steps->list.items[i];
    return highest;
}
