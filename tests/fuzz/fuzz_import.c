/* fuzz_import.c: any bytes as a file of one format, FUZZ_FORMAT. The importer makes events that
 * refer to what it has defined, in order of time, or reports what is wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <string.h>

#include "import_limits.h"
#include "importer.h"

struct seen {
    const struct ml_dict *dict;
    uint64_t last_ns;
};

static bool is_defined(const struct seen *s, enum ml_def_tag tag, uint64_t number)
{
    return number < s->dict->by_tag[tag].len;
}

static bool is_string(const struct seen *s, uint64_t number)
{
    return number < ml_intern_len(&s->dict->strings);
}

/* PyTorch's blocks are rounded up, and what lies side by side is joined. */
static bool may_be_larger(void)
{
    return strcmp(FUZZ_FORMAT, "torch-snapshot") == 0;
}

static void look_at_size(const struct ml_event *event)
{
    bool is_alloc = event->kind == ML_ALLOC || event->kind == ML_ALLOC_EX;

    FUZZ_REQUIRE(!is_alloc || event->size <= ML_IMPORT_BYTES_MAX || may_be_larger());
}

static void look_at_args(const struct seen *s, const struct ml_event *event)
{
    switch (event->kind) {
    case ML_LABEL:
    case ML_SAMPLE: FUZZ_REQUIRE(is_string(s, event->args[0])); break;
    case ML_COUNTER:
    case ML_START:
    case ML_STOP: FUZZ_REQUIRE(is_defined(s, ML_DEF_OBJECT, event->args[0])); break;
    case ML_MARKER:
        FUZZ_REQUIRE(!event->args[0] || is_defined(s, ML_DEF_OBJECT, event->args[0] - 1));
        FUZZ_REQUIRE(is_string(s, event->args[1]) && is_string(s, event->args[2]));
        break;
    default: break;
    }
}

static void look_at(void *ctx, const struct ml_event *event)
{
    struct seen *s = ctx;
    const struct ml_shape *shape = &ml_shapes[event->kind & 31];

    FUZZ_REQUIRE(event->kind < ML_KIND_COUNT && shape->name);
    FUZZ_REQUIRE(event->time_ns >= s->last_ns);
    FUZZ_REQUIRE(is_defined(s, ML_DEF_THREAD, event->thread));
    FUZZ_REQUIRE(!(shape->bits & ML_HAS_ADDR) || is_defined(s, ML_DEF_SPACE, event->space));
    FUZZ_REQUIRE(event->scope <= ml_intern_len(&s->dict->scopes));
    FUZZ_REQUIRE(event->stack <= ml_pairs_len(&s->dict->stacks));
    look_at_size(event);
    look_at_args(s, event);
    s->last_ns = event->time_ns;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const struct ml_import_format *format = ml_import_format_find(FUZZ_FORMAT);
    struct ml_import_source source;
    struct ml_import_sink sink;
    struct ml_error err = {0};
    struct seen seen = {.dict = &sink.dict};
    int r;

    FUZZ_REQUIRE(format);
    (void)format->recognise(data, len);
    FUZZ_REQUIRE(ml_import_sink_open(&sink, NULL, false, &err) == 0);
    ml_import_source_memory(&source, data, len);
    sink.tap = look_at;
    sink.tap_ctx = &seen;
    r = ml_import_run(format, &source, &sink, &err);
    if (r == 0)
        r = ml_import_sink_close(&sink, NULL, &err);
    else
        ml_import_sink_abandon(&sink);
    FUZZ_REQUIRE(r <= 0);
    FUZZ_REQUIRE(r == 0 || (err.code == r && err.text[0]));
    ml_import_source_release(&source);
    return 0;
}
