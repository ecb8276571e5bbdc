/* chrome_writer.c: see chrome_writer.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "chrome_writer.h"

#include <inttypes.h>
#include <stdio.h>

#include "run_facts.h"

static void put_run(struct ml_chrome *c)
{
    struct ml_run_fact fact;

    ml_json_key(&c->json, "otherData");
    ml_json_begin_object(&c->json);
    ml_json_kv_cstr(&c->json, "memledger", MEMLEDGER_VERSION);
    for (size_t i = 0; ml_run_fact(c->trace, i, &fact); i++)
        if (fact.text)
            ml_json_kv_cstr(&c->json, fact.key, fact.text);
        else
            ml_json_kv_u64(&c->json, fact.key, fact.number);
    ml_json_end_object(&c->json);
}

void ml_chrome_open(struct ml_chrome *c, const struct ml_trace *trace, struct ml_output *out)
{
    *c = (struct ml_chrome){.trace = trace, .out = out};
    ml_json_init(&c->json, &out->text, false);
    ml_json_begin_object(&c->json);
    ml_json_kv_cstr(&c->json, "displayTimeUnit", "ns");
    put_run(c);
    ml_json_key(&c->json, "traceEvents");
    ml_json_begin_array(&c->json);
}

int ml_chrome_close(struct ml_chrome *c)
{
    int r;

    ml_json_end_array(&c->json);
    ml_json_end_object(&c->json);
    r = ml_json_finish(&c->json);
    return r < 0 ? r : ml_buf_puts(&c->out->text, "\n");
}

/* Viewers take pid 0 for the idle process. */
uint32_t ml_chrome_pid(const struct ml_chrome *c, uint32_t process)
{
    uint32_t pid = ml_trace_process(c->trace, process)->pid;

    return pid ? pid : process + 1;
}

struct ml_chrome_track ml_chrome_thread(const struct ml_chrome *c, uint32_t thread)
{
    const struct ml_thread *t = ml_trace_thread(c->trace, thread);

    return (struct ml_chrome_track){ml_chrome_pid(c, t->process), t->tid ? t->tid : thread + 1};
}

void ml_chrome_begin(struct ml_chrome *c, char phase, const char *name, const char *category,
                     uint64_t time_ns, struct ml_chrome_track track)
{
    struct ml_json *json = &c->json;

    if (json->error == 0)
        json->error = ml_buf_puts(&c->out->text, "\n");
    ml_json_begin_object(json);
    ml_json_kv_string(json, "ph", &phase, 1);
    ml_json_kv_cstr(json, "name", name);
    if (category)
        ml_json_kv_cstr(json, "cat", category);
    ml_json_key(json, "ts");
    ml_json_thousandths(json, time_ns);
    ml_json_kv_u64(json, "pid", track.pid);
    ml_json_kv_u64(json, "tid", track.tid);
    c->in_args = false;
}

void ml_chrome_id(struct ml_chrome *c, uint64_t id)
{
    char text[24];

    snprintf(text, sizeof(text), "0x%" PRIx64, id);
    ml_json_kv_cstr(&c->json, "id", text);
}

struct ml_json *ml_chrome_args(struct ml_chrome *c)
{
    if (!c->in_args) {
        ml_json_key(&c->json, "args");
        ml_json_begin_object(&c->json);
        c->in_args = true;
    }
    return &c->json;
}

void ml_chrome_end(struct ml_chrome *c)
{
    if (c->in_args)
        ml_json_end_object(&c->json);
    ml_json_end_object(&c->json);
    if (c->json.error == 0)
        c->json.error = ml_output_line(c->out);
}

void ml_chrome_name(struct ml_chrome *c, const char *what, struct ml_chrome_track track,
                    const char *name)
{
    ml_chrome_begin(c, 'M', what, NULL, 0, track);
    ml_json_kv_cstr(ml_chrome_args(c), "name", name);
    ml_chrome_end(c);
}

void ml_chrome_sort(struct ml_chrome *c, const char *what, struct ml_chrome_track track,
                    int64_t index)
{
    ml_chrome_begin(c, 'M', what, NULL, 0, track);
    ml_json_kv_i64(ml_chrome_args(c), "sort_index", index);
    ml_chrome_end(c);
}
