/* chrome_entities.c: see chrome_entities.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "chrome_entities.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "memledger/memledger.h"

void ml_chrome_entities_init(struct ml_chrome_entities *w, struct ml_import_sink *sink)
{
    *w = (struct ml_chrome_entities){.sink = sink};
}

void ml_chrome_entities_release(struct ml_chrome_entities *w)
{
    ml_intern_release(&w->process_keys);
    ml_intern_release(&w->thread_keys);
    ml_intern_release(&w->object_keys);
    ml_vec_release(&w->processes);
    ml_vec_release(&w->threads);
    ml_vec_release(&w->objects);
    ml_buf_release(&w->key);
}

static void fail(struct ml_chrome_entities *w, int code)
{
    if (!w->error)
        w->error = code;
}

static void add(struct ml_chrome_entities *w, const void *bytes, size_t len)
{
    if (ml_buf_append(&w->key, bytes, len) < 0)
        fail(w, -ENOMEM);
}

static void add_slice(struct ml_chrome_entities *w, struct ml_slice p)
{
    add(w, &p.len, sizeof(p.len));
    add(w, p.text, p.len);
}

/* The index of the key in the buffer. */
static int64_t find(struct ml_chrome_entities *w, struct ml_intern *keys, bool *ret_new)
{
    int64_t at = ml_intern_put(keys, w->key.data, w->key.len, ret_new);

    ml_buf_clear(&w->key);
    if (at < 0)
        fail(w, (int)at);
    return at;
}

/* ---- Processes and threads ---------------------------------------------- */

/* The number if it fits into the trace, else 0. */
static uint32_t small_number(struct ml_slice text)
{
    uint64_t value;

    return ml_slice_u64(text, &value) && value <= INT32_MAX ? (uint32_t)value : 0;
}

static uint32_t process_of(struct ml_chrome_entities *w, struct ml_slice pid, struct ml_slice name)
{
    char command[256];
    bool is_new = false;
    int64_t at;

    if (w->one_process)
        pid = (struct ml_slice){"", 0};
    add_slice(w, pid);
    at = find(w, &w->process_keys, &is_new);
    if (at < 0 || ml_vec_reserve(&w->processes, 1) < 0) {
        fail(w, -ENOMEM);
        return 0;
    }
    if (is_new) {
        uint64_t fields[ML_DEF_FIELDS] = {
            [ML_PROCESS_PID] = small_number(pid), [ML_PROCESS_HOW] = ML_STARTED};

        snprintf(command, sizeof(command), "%.*s", (int)(name.len < 255 ? name.len : 255),
                 name.text);
        fields[ML_PROCESS_COMMAND] = ml_dict_cstr(&w->sink->dict, command);
        (void)ml_vec_push(&w->processes, ml_dict_add(&w->sink->dict, ML_DEF_PROCESS, fields));
    }
    return (size_t)at < w->processes.len ? w->processes.items[at] : 0;
}

void ml_chrome_name_process(struct ml_chrome_entities *w, const struct ml_chrome_event *e)
{
    const struct ml_chrome_arg *name = ml_chrome_arg(e, "name");

    if (!w->one_process && name && ml_slice_is(ml_chrome_field(e, ML_CHROME_NAME), "process_name"))
        (void)process_of(w, ml_chrome_field(e, ML_CHROME_PID), ml_chrome_text(e, name->value));
}

/* A thread id that is a hash becomes the thread's name. */
static uint32_t new_thread(struct ml_chrome_entities *w, uint32_t process, struct ml_slice tid)
{
    uint64_t fields[ML_DEF_FIELDS] = {
        [ML_THREAD_PROCESS] = process, [ML_THREAD_TID] = small_number(tid)};

    if (!fields[ML_THREAD_TID])
        fields[ML_THREAD_NAME] = ml_dict_string(&w->sink->dict, tid.text, tid.len);
    return ml_dict_add(&w->sink->dict, ML_DEF_THREAD, fields);
}

struct ml_chrome_thread ml_chrome_thread_of(struct ml_chrome_entities *w,
                                            const struct ml_chrome_event *e)
{
    struct ml_slice tid = ml_chrome_field(e, ML_CHROME_TID);
    struct ml_chrome_thread t = {
        .process = process_of(w, ml_chrome_field(e, ML_CHROME_PID), (struct ml_slice){"", 0})};
    bool is_new = false;
    int64_t at;

    add(w, &t.process, sizeof(t.process));
    add_slice(w, tid);
    at = find(w, &w->thread_keys, &is_new);
    if (at < 0 || ml_vec_reserve(&w->threads, 1) < 0) {
        fail(w, -ENOMEM);
        return t;
    }
    if (is_new) {
        t.thread = new_thread(w, t.process, tid);
        (void)ml_vec_push(&w->threads, t);
    }
    return (size_t)at < w->threads.len ? w->threads.items[at] : t;
}

/* ---- Objects ------------------------------------------------------------ */

uint32_t ml_chrome_domain(struct ml_chrome_entities *w, uint32_t process, struct ml_slice name)
{
    if (name.len == 0)
        return 0;
    return ml_import_object(w->sink, process, MEMLEDGER_DOMAIN, 0,
                            ml_dict_string(&w->sink->dict, name.text, name.len)) +
           1;
}

uint32_t ml_chrome_object(struct ml_chrome_entities *w, uint32_t process, uint32_t kind,
                          uint32_t domain, struct ml_slice name, uint32_t thread,
                          struct ml_slice id)
{
    uint32_t string = ml_dict_string(&w->sink->dict, name.text, name.len);
    uint32_t numbers[] = {process, kind, domain, string, id.len ? 0 : thread + 1};
    uint64_t fields[ML_DEF_FIELDS] = {[ML_OBJECT_PROCESS] = process,
                                      [ML_OBJECT_KIND] = kind,
                                      [ML_OBJECT_DOMAIN] = domain,
                                      [ML_OBJECT_NAME] = string};
    bool is_new = false;
    int64_t at;

    add(w, numbers, sizeof(numbers));
    add(w, id.text, id.len);
    at = find(w, &w->object_keys, &is_new);
    if (at < 0 || ml_vec_reserve(&w->objects, 1) < 0) {
        fail(w, -ENOMEM);
        return 0;
    }
    if (is_new)
        (void)ml_vec_push(&w->objects, ml_dict_add(&w->sink->dict, ML_DEF_OBJECT, fields));
    return (size_t)at < w->objects.len ? w->objects.items[at] : 0;
}
