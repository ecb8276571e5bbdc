/* tags.c: see tags.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tags.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "event_names.h"
#include "label_tags.h"
#include "memledger/memledger.h"
#include "tag_words.h"
#include "unknowns.h"

#define STORE "kvstore:"
#define GRADIENT_SUFFIX ".grad"
#define ENTRY "data_entry:"
#define BACKWARD "_backward"
#define EDGES_SEARCHED 256 /* numbers to try before a new one is added */

static const char *const prefixes[] = {
    "in_arg:", "arg_grad:",  "aux_state:", "data_entry:", "head_grad:",        "optimizer_state:",
    STORE,     "workspace:", "resource:",  "dropout:",    "forward_features:", "unknown:",
};

/* What users of PyTorch call the parts of MXNet's tags; data_entry can be one of two. */
static const struct {
    const char *mxnet, *torch;
} torch_words[] = {
    {"in_arg:", "parameter:"},
    {"arg_grad:", "gradient:"},
    {"aux_state:", "buffer:"},
    {"unknown:", "other:"},
};

static bool begins_as_tag(const char *text)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

bool ml_tag_is_spelled(const char *text)
{
    for (; text; text = strchr(text, ':')) {
        text += *text == ':';
        if (begins_as_tag(text))
            return true;
    }
    return false;
}

int ml_tags_init(struct ml_tags *tags, const struct ml_trace *trace)
{
    const char *source = ml_trace_setting(trace, ML_SETTING_IMPORT_FORMAT);

    *tags = (struct ml_tags){.trace = trace};
    tags->has_tags =
        source && (strncmp(source, "mxnet-", 6) == 0 || strncmp(source, "tbd-", 4) == 0);
    return ml_modules_init(&tags->modules, trace);
}

void ml_tags_release(struct ml_tags *tags)
{
    ml_modules_release(&tags->modules);
    ml_map_release(&tags->place_index);
    for (size_t i = 0; i < tags->places.len; i++)
        ml_vec_release(&tags->places.items[i].ends);
    ml_vec_release(&tags->places);
}

/* ---- Places of allocation ----------------------------------------------- */

/* The innermost operator around it, else the innermost scope that is not a phase; 0: none. */
static uint32_t operator_scope(const struct ml_trace *trace, uint32_t scope)
{
    uint32_t other = 0;

    while (scope != 0) {
        const struct ml_scope *s = ml_trace_scope(trace, scope);

        if (s->kind == MEMLEDGER_SCOPE_OPERATOR)
            return scope;
        if (!other && s->kind != MEMLEDGER_SCOPE_PHASE)
            other = scope;
        scope = s->parent < scope ? s->parent : 0;
    }
    return other;
}

/* "kvstore:3", if a key-value store allocated the block for that key; or NULL. */
static const char *store_around(const struct ml_trace *trace, uint32_t scope)
{
    while (scope != 0) {
        const struct ml_scope *s = ml_trace_scope(trace, scope);
        const char *name = ml_trace_string(trace, s->name, NULL);

        if (s->kind == MEMLEDGER_SCOPE_USER && strncmp(name, STORE, strlen(STORE)) == 0)
            return name;
        scope = s->parent < scope ? s->parent : 0;
    }
    return NULL;
}

struct place {
    const char *name; /* of a module or an operator, else of the space */
    uint64_t key;     /* the same for blocks of one place */
};

static struct place operator_place(const struct ml_tags *tags, const struct ml_block *block,
                                   uint32_t space)
{
    uint32_t scope = operator_scope(tags->trace, block->scope);
    uint32_t name =
        scope ? ml_trace_scope(tags->trace, scope)->name : ml_trace_space(tags->trace, space)->name;

    return (struct place){ml_trace_string(tags->trace, name, NULL), (uint64_t)name << 32};
}

/* @return 0 or -ENOMEM */
static int module_place(struct ml_tags *tags, const struct ml_block *block, uint32_t space,
                        struct place *ret)
{
    int64_t module = ml_modules_of(&tags->modules, block);

    if (module < 0)
        return (int)module;
    *ret = module == ML_NO_MODULE
               ? operator_place(tags, block, space)
               : (struct place){tags->modules.list.items[module].path, (uint64_t)module};
    return 0;
}

/* ---- Tags by category --------------------------------------------------- */

/* "fc1.weight.exp_avg" -> "optimizer_state:exp_avg:fc1.weight". The part of a sparse array comes
 * last: "fc1.weight.mean:row_sparse:idx" -> "optimizer_state:mean:fc1.weight:row_sparse:idx". */
static int put_state(const char *label, struct ml_buf *out)
{
    const char *dot = strrchr(label, '.'), *slot = dot ? dot + 1 : label, *part;

    if (!dot)
        return ml_buf_printf(out, "optimizer_state:%s", label);
    part = slot + strcspn(slot, ":");
    return ml_buf_printf(out, "optimizer_state:%.*s:%.*s%s", (int)(part - slot), slot,
                         (int)(dot - label), label, part);
}

static int put_gradient(const char *label, struct ml_buf *out)
{
    size_t len = strlen(label), tail = strlen(GRADIENT_SUFFIX);

    if (len > tail && strcmp(label + len - tail, GRADIENT_SUFFIX) == 0)
        len -= tail;
    return ml_buf_printf(out, "arg_grad:%.*s", (int)len, label);
}

static int put_intermediate(const char *label, struct ml_buf *out)
{
    bool is_first = strstr(label, ML_MXNET_HEAD_GRADIENT);

    return ml_buf_printf(out, "%s%s", is_first ? "head_grad:" : "data_entry:", label);
}

/* Memory that an operator borrows from MXNet: 2.0 calls it "resource:temp_space (sample_op.h +3)".
 */
static bool is_borrowed(const char *label)
{
    return strcmp(label, ML_MXNET_TEMP_SPACE) == 0 ||
           strstr(label, "resource:" ML_MXNET_TEMP_SPACE);
}

/* The operator that borrows the memory, else the line of MXNet that its label says. */
static int put_borrowed(struct ml_tags *tags, const struct ml_block *block, uint32_t space,
                        const char *label, struct ml_buf *out)
{
    const char *line = strchr(label, '(');

    if (line && !operator_scope(tags->trace, block->scope))
        return ml_buf_printf(out, "workspace:%.*s", (int)strcspn(line + 1, ")"), line + 1);
    return ml_buf_printf(out, "workspace:%s", operator_place(tags, block, space).name);
}

static int put_labelled(unsigned category, const char *label, struct ml_buf *out)
{
    switch (category) {
    case MEMLEDGER_PARAMETER: return ml_buf_printf(out, "in_arg:%s", label);
    case MEMLEDGER_BUFFER: return ml_buf_printf(out, "aux_state:%s", label);
    case MEMLEDGER_GRADIENT: return put_gradient(label, out);
    case MEMLEDGER_OPTIMIZER_STATE: return put_state(label, out);
    case MEMLEDGER_ACTIVATION: return ml_buf_printf(out, "data_entry:%s", label);
    case MEMLEDGER_INTERMEDIATE_GRADIENT: return put_intermediate(label, out);
    case MEMLEDGER_TEMPORARY:
    case MEMLEDGER_WORKSPACE: return ml_buf_printf(out, "workspace:%s", label);
    default: return ml_buf_puts(out, label); /* inputs have only their names */
    }
}

/* @return NULL: out of memory */
static struct ml_tag_place *find_place(struct ml_tags *tags, uint64_t key)
{
    uint64_t index = tags->places.len;

    if (ml_map_get(&tags->place_index, key, &index))
        return &tags->places.items[index];
    if (ml_vec_push(&tags->places, (struct ml_tag_place){0}) < 0 ||
        ml_map_put(&tags->place_index, key, index) < 0)
        return NULL;
    return &tags->places.items[index];
}

/* The lowest number that is free when the block is allocated. @return -ENOMEM */
static int64_t take_edge(struct ml_tag_place *place, uint64_t time_ns, uint64_t end_ns)
{
    for (size_t i = 0; i < place->ends.len && i < EDGES_SEARCHED; i++)
        if (place->ends.items[i] <= time_ns) {
            place->ends.items[i] = end_ns;
            return (int64_t)i;
        }
    if (ml_vec_push(&place->ends, end_ns) < 0)
        return -ENOMEM;
    return (int64_t)place->ends.len - 1;
}

static int put_entry(struct ml_tags *tags, const struct place *place, const struct ml_block *block,
                     uint64_t end_ns, struct ml_buf *out)
{
    bool is_backward = block->category == MEMLEDGER_INTERMEDIATE_GRADIENT;
    struct ml_tag_place *edges = find_place(tags, place->key << 1 | is_backward);
    int64_t edge = edges ? take_edge(edges, block->time_ns, end_ns) : -ENOMEM;

    return edge < 0 ? (int)edge
                    : ml_buf_printf(out, ENTRY "%s%s" ML_MXNET_EDGE "%" PRId64, place->name,
                                    is_backward ? BACKWARD : "", edge);
}

/* A store keeps copies of parameters, and borrows memory to add up gradients. */
static int put_stored(unsigned category, const char *store, struct ml_buf *out)
{
    switch (category) {
    case MEMLEDGER_OPTIMIZER_STATE: return ml_buf_printf(out, "optimizer_state:%s", store);
    case MEMLEDGER_TEMPORARY: return ml_buf_printf(out, "workspace:%s", store);
    default: return ml_buf_puts(out, store);
    }
}

static int put_unlabelled(struct ml_tags *tags, const struct ml_block *block, uint32_t space,
                          uint64_t end_ns, struct ml_buf *out)
{
    struct place operation = operator_place(tags, block, space), place = operation;
    const char *store = store_around(tags->trace, block->scope);
    int r = module_place(tags, block, space, &place);

    if (r < 0)
        return r;
    if (store)
        return put_stored(block->category, store, out);
    switch (block->category) {
    case MEMLEDGER_ACTIVATION:
    case MEMLEDGER_INTERMEDIATE_GRADIENT: return put_entry(tags, &place, block, end_ns, out);
    case MEMLEDGER_TEMPORARY: return ml_buf_printf(out, "workspace:%s", operation.name);
    case MEMLEDGER_OPTIMIZER_STATE: return ml_buf_printf(out, "optimizer_state:%s", operation.name);
    default: return ml_buf_printf(out, "unknown:%s", operation.name);
    }
}

/* In a program without phases, blocks keep all the names that MXNet 2 gives them. */
static bool is_empty(const struct ml_trace *trace, const struct ml_block *block, uint32_t space,
                     const char *label)
{
    const char *name = ml_trace_string(trace, ml_trace_space(trace, space)->name, NULL);

    return strcmp(name, ML_MXNET_SPACE_NAME) == 0 &&
           ml_engine_name_is_empty(trace, block->scope, label, block->category);
}

int ml_tag_of(struct ml_tags *tags, const struct ml_block *block, uint32_t space, uint64_t end_ns,
              struct ml_buf *out)
{
    const char *label = block->label ? ml_trace_string(tags->trace, block->label, NULL) : "";

    if (tags->has_tags)
        return ml_buf_puts(out, label);
    if (label[0] == '\0' || is_empty(tags->trace, block, space, label))
        return put_unlabelled(tags, block, space, end_ns, out);
    if (is_borrowed(label))
        return put_borrowed(tags, block, space, label, out);
    if (ml_tag_is_spelled(label))
        return ml_buf_puts(out, label);
    return put_labelled(block->category, label, out);
}

/* ---- PyTorch's words ----------------------------------------------------- */

static bool begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static const char *last_edge(const char *name)
{
    const char *edge = strstr(name, ML_MXNET_EDGE), *next = edge;

    while (next && (next = strstr(next + 1, ML_MXNET_EDGE)))
        edge = next;
    return edge;
}

/* "encoder.0_backward_oedge1" -> "intermediate_gradient:encoder.0[1]". */
static int put_output(const char *name, struct ml_buf *out)
{
    const char *edge = last_edge(name);
    size_t len = edge ? (size_t)(edge - name) : strlen(name), tail = strlen(BACKWARD);
    bool is_backward = len > tail && memcmp(name + len - tail, BACKWARD, tail) == 0;
    unsigned category = is_backward ? MEMLEDGER_INTERMEDIATE_GRADIENT : MEMLEDGER_ACTIVATION;
    int r;

    len -= is_backward ? tail : 0;
    r = ml_buf_printf(out, "%s:%.*s", ml_category_name(category), (int)len, name);
    return r < 0 || !edge ? r : ml_buf_printf(out, "[%s]", edge + strlen(ML_MXNET_EDGE));
}

int ml_tag_in_torch_words(const char *tag, struct ml_buf *out)
{
    if (begins_with(tag, ENTRY))
        return put_output(tag + strlen(ENTRY), out);
    for (size_t i = 0; i < sizeof(torch_words) / sizeof(*torch_words); i++)
        if (begins_with(tag, torch_words[i].mxnet))
            return ml_buf_printf(out, "%s%s", torch_words[i].torch,
                                 tag + strlen(torch_words[i].mxnet));
    return ml_buf_puts(out, tag);
}
