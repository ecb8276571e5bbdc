/* blocks_picture_json.c: see blocks_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "blocks_report.h"
#include "event_names.h"
#include "intern.h"

typedef uint64_t fact_fn(const struct ml_lifetime *l);

static uint64_t address(const struct ml_lifetime *l)
{
    return l->addr;
}

static uint64_t bytes(const struct ml_lifetime *l)
{
    return l->bytes;
}

static uint64_t begin_ns(const struct ml_lifetime *l)
{
    return l->begin_ns;
}

static uint64_t end_ns(const struct ml_lifetime *l)
{
    return l->end_ns;
}

static uint64_t freed(const struct ml_lifetime *l)
{
    return l->ended;
}

static uint64_t category(const struct ml_lifetime *l)
{
    return l->category;
}

static const struct {
    const char *key;
    fact_fn *fact;
} facts[] = {{"address", address}, {"bytes", bytes}, {"begin_ns", begin_ns},
             {"end_ns", end_ns},   {"freed", freed}, {"category", category}};

static void put_facts(const struct ml_lifetimes *found, struct ml_json *json)
{
    for (size_t k = 0; k < ML_ARRAY_SIZE(facts); k++) {
        ml_json_key(json, facts[k].key);
        ml_json_begin_array(json);
        for (size_t i = 0; i < found->list.len; i++)
            ml_json_u64(json, facts[k].fact(&found->list.items[i]));
        ml_json_end_array(json);
    }
}

static void put_pids(const struct ml_blocks_report *report, struct ml_json *json)
{
    const struct ml_trace *trace = report->trace;
    const struct ml_lifetimes *found = report->lifetimes;

    ml_json_key(json, "pid");
    ml_json_begin_array(json);
    for (size_t i = 0; i < found->list.len; i++)
        ml_json_u64(json, ml_trace_process(
                              trace, ml_trace_thread(trace, found->list.items[i].thread)->process)
                              ->pid);
    ml_json_end_array(json);
}

/* ---- Names ----------------------------------------------------------------- */

typedef const char *name_fn(const struct ml_lifetime *l);

static const char *label(const struct ml_lifetime *l)
{
    return l->label;
}

static const char *module(const struct ml_lifetime *l)
{
    return l->module;
}

static const char *line(const struct ml_lifetime *l)
{
    return l->line;
}

static const char *function(const struct ml_lifetime *l)
{
    return l->function;
}

static const char *device(const struct ml_lifetime *l)
{
    return l->device;
}

/* Each name once, and its number for each block. */
static int put_names(const struct ml_lifetimes *found, const char *key, name_fn *name,
                     struct ml_intern *names, struct ml_json *json)
{
    int64_t number = 0;

    ml_json_key(json, key);
    ml_json_begin_array(json);
    for (size_t i = 0; number >= 0 && i < found->list.len; i++) {
        const char *text = name(&found->list.items[i]);

        number = ml_intern_put(names, text, strlen(text), NULL);
        if (number >= 0)
            ml_json_u64(json, (uint64_t)number);
    }
    ml_json_end_array(json);
    return number < 0 ? (int)number : 0;
}

static void put_name_list(const struct ml_intern *names, struct ml_json *json)
{
    ml_json_key(json, "names");
    ml_json_begin_array(json);
    for (size_t i = 0; i < ml_intern_len(names); i++) {
        size_t len;
        const char *text = ml_intern_get(names, (uint32_t)i, &len);

        ml_json_string(json, text, len);
    }
    ml_json_end_array(json);
}

static void put_categories(struct ml_json *json)
{
    ml_json_key(json, "categories");
    ml_json_begin_array(json);
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        ml_json_cstr(json, ml_category_name(i));
    ml_json_end_array(json);
}

static int put_blocks(const struct ml_blocks_report *report, struct ml_json *json)
{
    const struct ml_lifetimes *found = report->lifetimes;
    struct ml_intern names = {0};
    int r;

    put_categories(json);
    ml_json_key(json, "list");
    ml_json_begin_object(json);
    put_facts(found, json);
    put_pids(report, json);
    r = put_names(found, "device", device, &names, json);
    if (r == 0)
        r = put_names(found, "label", label, &names, json);
    if (r == 0)
        r = put_names(found, "module", module, &names, json);
    if (r == 0)
        r = put_names(found, "line", line, &names, json);
    if (r == 0)
        r = put_names(found, "function", function, &names, json);
    ml_json_end_object(json);
    put_name_list(&names, json);
    ml_intern_release(&names);
    return r;
}

static void put_rest(const struct ml_lifetimes *found, struct ml_json *json)
{
    ml_json_key(json, "rest");
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "blocks", found->rest_blocks);
    ml_json_kv_u64(json, "bytes", found->rest_bytes);
    ml_json_key(json, "mean_bytes");
    ml_json_begin_array(json);
    for (size_t i = 0; i < found->rest_columns.len; i++)
        ml_json_u64(json, found->rest_columns.items[i]);
    ml_json_end_array(json);
    ml_json_end_object(json);
}

int ml_blocks_picture_json(const struct ml_blocks_report *report, struct ml_buf *out)
{
    struct ml_json json;
    int r;

    ml_json_init(&json, out, false);
    ml_json_begin_object(&json);
    ml_blocks_head_json(report, &json);
    r = put_blocks(report, &json);
    put_rest(report->lifetimes, &json);
    ml_json_end_object(&json);
    if (r == 0)
        r = ml_json_finish(&json);
    return r < 0 ? r : ml_buf_puts(out, "\n");
}
