/* import_tbd_analysis.c: the output of tbd-tools' script for a log.
 *
 *     {"in_arg": [1048608.0, ["(in_arg:fc1_weight).\n", ...]], ...}
 *
 * Each category has the sum of its sizes and a list of its tags, so the size of one allocation
 * is unknown: the first gets the sum, the others 0. The category becomes a scope.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "import_formats.h"
#include "import_tagged.h"
#include "json_reader.h"
#include "memledger/memledger.h"

struct analysis {
    struct ml_json_reader json;
    struct ml_import_sink *sink;
    struct ml_import_tagged tagged;
    struct ml_tagged_block block; /* scope and space of the category */
};

/* "(in_arg:fc1_weight).\n" without the script's leftovers at both ends. */
static struct ml_slice bare_tag(struct ml_slice tag)
{
    while (tag.len && (tag.text[tag.len - 1] == '\n' || tag.text[tag.len - 1] == '\r'))
        tag.len--;
    if (tag.len >= 3 && tag.text[0] == '(' && memcmp(tag.text + tag.len - 2, ").", 2) == 0)
        return (struct ml_slice){tag.text + 1, tag.len - 3};
    return tag;
}

static int expect(struct analysis *a, int wanted, const char *what, struct ml_error *err)
{
    int token = ml_json_next(&a->json, err);

    if (token < 0 || token == wanted)
        return token;
    return ml_import_bad(a->json.source, err, "%s is missing", what);
}

static int read_sum(struct analysis *a, struct ml_error *err)
{
    double bytes;
    int r = expect(a, ML_JSON_NUMBER, "the sum of a category", err);

    if (r < 0)
        return r;
    if (!ml_slice_double(ml_json_text(&a->json), &bytes) ||
        !ml_mib_to_bytes(bytes / 1048576, &a->block.bytes))
        return ml_import_bad(a->json.source, err, "the sum of a category is not a number of bytes");
    return 0;
}

static int read_tags(struct analysis *a, struct ml_error *err)
{
    int token;

    while ((token = ml_json_next(&a->json, err)) == ML_JSON_STRING) {
        a->block.tag = bare_tag(ml_json_text(&a->json));
        ml_import_tagged_put(&a->tagged, &a->block);
        a->block.bytes = 0;
    }
    if (token < 0 || token == ML_JSON_ARRAY_END)
        return token;
    return ml_import_bad(a->json.source, err, "a value among the tags is not a string");
}

static int read_category(struct analysis *a, struct ml_error *err)
{
    struct ml_slice name = ml_json_text(&a->json);
    struct ml_dict_scope scope = {
        .kind = MEMLEDGER_SCOPE_USER,
        .name = ml_dict_string(&a->sink->dict, name.text, name.len),
    };
    int r = expect(a, ML_JSON_ARRAY, "the list of a category", err);

    a->block.scope = ml_dict_scope(&a->sink->dict, &scope);
    if (r >= 0)
        r = read_sum(a, err);
    if (r >= 0)
        r = expect(a, ML_JSON_ARRAY, "the list of tags", err);
    if (r >= 0)
        r = read_tags(a, err);
    if (r >= 0)
        r = expect(a, ML_JSON_ARRAY_END, "the end of a category", err);
    return r;
}

static int read_all(struct analysis *a, struct ml_error *err)
{
    int token = expect(a, ML_JSON_OBJECT, "the '{' at the beginning", err);

    while (token >= 0) {
        token = ml_json_next(&a->json, err);
        if (token == ML_JSON_OBJECT_END)
            return 0;
        if (token == ML_JSON_KEY)
            token = read_category(a, err);
        else if (token >= 0)
            return ml_import_bad(a->json.source, err, "the end is missing");
    }
    return token;
}

static int run(struct ml_import_source *source, struct ml_import_sink *sink, struct ml_error *err)
{
    struct analysis a = {.json = {.source = source}, .sink = sink};
    int r;

    ml_import_tagged_init(&a.tagged, sink);
    ml_import_unknown(sink, ML_UNKNOWN_ALLOCATIONS | ML_UNKNOWN_ORDER);
    a.block.space = ml_import_space(sink, a.tagged.process, "gpu", MEMLEDGER_DRIVER, "cudaMalloc");
    r = read_all(&a, err);
    ml_json_reader_release(&a.json);
    if (r == 0 && sink->events == 0)
        return ml_error_set(err, -EINVAL, "%s: has no tags with sizes", source->name);
    return r;
}

/* An object whose first value is a list of a number and a list. */
static int recognise(const uint8_t *head, size_t len)
{
    struct ml_import_source source;
    struct ml_json_reader json = {.source = &source};
    static const int wanted[] = {ML_JSON_OBJECT, ML_JSON_KEY,   ML_JSON_ARRAY,
                                 ML_JSON_NUMBER, ML_JSON_ARRAY, ML_JSON_STRING};
    size_t i = 0;

    ml_import_source_memory(&source, head, len);
    while (i < ML_ARRAY_SIZE(wanted) && ml_json_next(&json, NULL) == wanted[i])
        i++;
    ml_json_reader_release(&json);
    return i == ML_ARRAY_SIZE(wanted) ? 85 : 0;
}

const struct ml_import_format ml_import_tbd_analysis = {
    .name = "tbd-analysis",
    .help = "an _ANALYSIS file of tbd-tools: sums and tags by category",
    .recognise = recognise,
    .run = run,
};
