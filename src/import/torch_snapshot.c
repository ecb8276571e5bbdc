/* torch_snapshot.c: reads a snapshot and its outermost dict.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_snapshot.h"

#include <errno.h>
#include <stdio.h>

static int not_a_snapshot(const struct ml_torch_snapshot *t, struct ml_error *err)
{
    return ml_error_set(err, -EINVAL,
                        "%s: a pickle, but not a PyTorch memory snapshot: it has neither "
                        "segments nor device_traces",
                        t->source->name);
}

static bool is_empty_list(const struct ml_pickle_node *node)
{
    return node && node->kind == ML_PICKLE_LIST && node->len == 0;
}

static int find_traces(struct ml_torch_snapshot *t, const struct ml_pickle_node *list,
                       struct ml_error *err)
{
    if (!list || list->kind != ML_PICKLE_LIST)
        return ml_error_set(err, -EINVAL, "%s: device_traces is not a list of lists",
                            t->source->name);
    for (uint32_t i = 0; i < list->len; i++) {
        const struct ml_pickle_node *trace = ml_pickle_node(&t->machine, list->items[i]);
        struct ml_torch_trace found = {0};

        if (!ml_torch_is_trace(trace, &found) && !is_empty_list(trace))
            return ml_error_set(
                err, -EINVAL, "%s: device_traces[%u] contains something that is not a trace entry",
                t->source->name, i);
        if (ml_vec_push(&t->traces, found) < 0)
            return ml_pickle_no_memory(&t->machine, err);
    }
    return 0;
}

/* Reads a number of allocator_settings. */
static uint64_t setting(const struct ml_torch_snapshot *t, const struct ml_pickle_node *settings,
                        const char *key)
{
    ml_pickle_value value;
    int64_t number;

    if (!ml_pickle_find(&t->machine, settings, key, &value) ||
        !ml_pickle_int(&t->machine, value, &number) || number < 0)
        return 0;
    return (uint64_t)number;
}

static void find_settings(struct ml_torch_snapshot *t, const struct ml_pickle_node *settings)
{
    const struct ml_pickle_node *divisions;
    ml_pickle_value value;
    const char *conf;

    t->settings.max_split_bytes = setting(t, settings, "max_split_size");
    if (ml_pickle_find(&t->machine, settings, "PYTORCH_CUDA_ALLOC_CONF", &value) &&
        (conf = ml_pickle_chars(&t->machine, value, NULL)) && conf[0])
        ml_dict_config(&t->sink->dict, "PYTORCH_CUDA_ALLOC_CONF", conf);
    if (!ml_pickle_find(&t->machine, settings, "roundup_power2_divisions", &value))
        return;
    divisions = ml_pickle_node(&t->machine, value);
    for (unsigned i = 0; i < ML_TORCH_DIVISIONS; i++) {
        char key[16];

        snprintf(key, sizeof(key), "%u", 1u << i);
        t->settings.divisions[i] = (uint32_t)setting(t, divisions, key);
    }
}

static int look_at_root(struct ml_torch_snapshot *t, ml_pickle_value value, struct ml_error *err)
{
    const struct ml_pickle_node *root = ml_pickle_node(&t->machine, value);
    bool segments, traces;
    ml_pickle_value found;

    if (ml_torch_is_segments(root) || is_empty_list(root))
        return 0; /* torch.cuda.memory_snapshot() has only segments */
    segments = ml_pickle_find(&t->machine, root, "segments", &found);
    traces = ml_pickle_find(&t->machine, root, "device_traces", &found);
    if (!segments && !traces)
        return not_a_snapshot(t, err);
    if (traces) {
        int r = find_traces(t, ml_pickle_node(&t->machine, found), err);

        if (r < 0)
            return r;
    }
    if (ml_pickle_find(&t->machine, root, "allocator_settings", &found))
        find_settings(t, ml_pickle_node(&t->machine, found));
    return 0;
}

int ml_torch_snapshot_read(struct ml_torch_snapshot *t, struct ml_import_source *source,
                           struct ml_import_sink *sink, struct ml_error *err)
{
    ml_pickle_value root = 0;
    int r;

    *t = (struct ml_torch_snapshot){.source = source, .sink = sink};
    if (ml_torch_records_begin(t) < 0)
        r = ml_pickle_no_memory(&t->machine, err);
    else
        r = ml_pickle_read(&t->machine, &root, err);
    if (r == 0)
        r = look_at_root(t, root, err);
    /* The memo and the nodes, most of the memory, are no longer needed. */
    ml_pickle_release(&t->machine);
    ml_vec_release(&t->strings);
    ml_intern_release(&t->callers);
    ml_vec_release(&t->stacks);
    return r;
}

void ml_torch_snapshot_release(struct ml_torch_snapshot *t)
{
    ml_vec_release(&t->entries);
    ml_vec_release(&t->blocks);
    ml_vec_release(&t->segments);
    ml_vec_release(&t->annotations);
    ml_vec_release(&t->traces);
    ml_torch_places_release(&t->places);
}
