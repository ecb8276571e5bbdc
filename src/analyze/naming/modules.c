/* modules.c: see modules.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "modules.h"

#include <errno.h>
#include <string.h>

#include "memledger/memledger.h"
#include "scope_path.h"

#define FUSED "_parameters"
#define ROOTS_SEARCHED 64 /* the most models to search for a name; no program has more */

/* ---- The table of modules ---------------------------------------------- */

/* The key of a module's name: `below`, the index of the module around it, then the name. */
static int make_key(uint32_t below, const char *name, size_t len, struct ml_buf *ret)
{
    int r;

    ml_buf_clear(ret);
    r = ml_buf_append(ret, &below, sizeof(below));
    return r < 0 ? r : ml_buf_append(ret, name, len);
}

/* @return the index, ML_NO_MODULE if there is none, or -ENOMEM */
static int64_t find(const struct ml_modules *m, uint32_t below, const char *name, size_t len)
{
    struct ml_buf key;
    int64_t found;

    ml_buf_init(&key);
    found = make_key(below, name, len, &key) < 0 ? -ENOMEM
                                                 : ml_intern_find(&m->names, key.data, key.len);
    ml_buf_release(&key);
    return found == -ENOENT ? ML_NO_MODULE : found < 0 ? found : found + 1;
}

static int64_t add(struct ml_modules *m, uint32_t below, const char *name, size_t len,
                   uint32_t scope)
{
    uint32_t index = (uint32_t)m->list.len;
    struct ml_module module = {
        .parent = below,
        .root = below == ML_NO_MODULE ? index : m->list.items[below].root,
        .path = ml_arena_dup(&m->arena, name, len),
        .path_len = len,
        .scope = scope,
        .class_name = ml_trace_scope(m->trace, scope)->class_name,
    };

    module.name = module.path;
    module.is_function = ml_scope_fact_of(&m->facts, scope).in_function;
    if (!module.path || ml_vec_push(&m->list, module) < 0)
        return -ENOMEM;
    if (below == ML_NO_MODULE && !module.is_function && ml_vec_push(&m->roots, index) < 0)
        return -ENOMEM;
    return index;
}

/* A function has the name of this module, which is met now. */
static int become_module(struct ml_modules *m, uint32_t index, uint32_t scope)
{
    struct ml_module *module = &m->list.items[index];

    if (!module->is_function || ml_scope_fact_of(&m->facts, scope).in_function)
        return 0;
    module->is_function = false;
    module->scope = scope;
    module->class_name = ml_trace_scope(m->trace, scope)->class_name;
    return module->parent == ML_NO_MODULE ? ml_vec_push(&m->roots, index) : 0;
}

/* The module of that name below another; added if it is new. */
static int64_t put(struct ml_modules *m, uint32_t below, const char *name, size_t len,
                   uint32_t scope)
{
    struct ml_buf key;
    int64_t number = -ENOMEM;
    bool is_new = false;

    ml_buf_init(&key);
    if (make_key(below, name, len, &key) == 0)
        number = ml_intern_put(&m->names, key.data, key.len, &is_new);
    ml_buf_release(&key);
    if (number < 0)
        return -ENOMEM;
    if (is_new)
        return add(m, below, name, len, scope);
    return become_module(m, (uint32_t)number + 1, scope) < 0 ? -ENOMEM : number + 1;
}

/* ---- From scopes ------------------------------------------------------- */

static bool is_in_phase(const struct ml_modules *m, uint32_t scope)
{
    return ml_scope_fact_of(&m->facts, scope).phase_scope != 0;
}

/* A module that is called in backward outside its model is a module of forward. */
static int64_t put_outermost(struct ml_modules *m, uint32_t scope, const char *name, size_t len)
{
    int64_t found = find(m, ML_NO_MODULE, name, len);

    for (size_t i = 0;
         is_in_phase(m, scope) && found == ML_NO_MODULE && i < m->roots.len && i < ROOTS_SEARCHED;
         i++)
        found = find(m, m->roots.items[i], name, len);
    return found == ML_NO_MODULE ? put(m, ML_NO_MODULE, name, len, scope) : found;
}

/* "optimizer: AdamW", for what an optimizer allocates outside of all modules. */
static int64_t put_optimizer(struct ml_modules *m, uint32_t number)
{
    struct ml_buf path;
    int64_t module = -ENOMEM;

    ml_buf_init(&path);
    if (ml_scope_path(m->trace, number, &path) == 0)
        module = put(m, ML_NO_MODULE, (const char *)path.data, path.len, number);
    ml_buf_release(&path);
    if (module > 0)
        m->list.items[module].is_optimizer = true;
    return module;
}

/* The scope of an optimizer's class, in the phase of optimizers. */
static bool is_optimizer(const struct ml_modules *m, const struct ml_scope *scope, uint32_t number)
{
    const struct ml_scope_fact fact = ml_scope_fact_of(&m->facts, number);

    return scope->kind == MEMLEDGER_SCOPE_USER && fact.phase == ML_PHASE_OPTIMIZER &&
           scope->parent == fact.phase_scope;
}

static int64_t module_of_scope(struct ml_modules *m, uint32_t number)
{
    const struct ml_scope *scope = ml_trace_scope(m->trace, number);
    uint32_t around = m->of_scope.items[scope->parent < number ? scope->parent : 0], len, root;
    const char *name = ml_trace_string(m->trace, scope->name, &len);

    if (m->nested)
        return scope->kind == MEMLEDGER_SCOPE_PHASE ? around : put(m, around, name, len, number);
    if (around == ML_NO_MODULE && is_optimizer(m, scope, number))
        return put_optimizer(m, number);
    if (scope->kind != MEMLEDGER_SCOPE_MODULE)
        return around;
    if (around == ML_NO_MODULE || m->list.items[around].is_optimizer)
        return put_outermost(m, number, name, len);
    root = m->list.items[around].root;
    if (len == m->list.items[root].path_len && memcmp(name, m->list.items[root].path, len) == 0)
        return root;
    return put(m, root, name, len, number);
}

static int fill_scopes(struct ml_modules *m, bool in_phase)
{
    for (uint32_t i = 1; i < m->of_scope.len; i++) {
        int64_t module;

        if (is_in_phase(m, i) != in_phase)
            continue;
        module = module_of_scope(m, i);
        if (module < 0)
            return -ENOMEM;
        m->of_scope.items[i] = (uint32_t)module;
    }
    return 0;
}

/* Parents come before their children, and forward before all phases, because a phase calls no new
 * modules. */
static int read_scopes(struct ml_modules *m)
{
    uint32_t count = ml_trace_scopes(m->trace);
    int r = ml_scope_facts_init(m->trace, &m->facts);

    m->nested = !m->facts.has_modules;
    for (uint32_t i = 0; i < count && r == 0; i++)
        r = ml_vec_push(&m->of_scope, ML_NO_MODULE);
    if (r == 0)
        r = fill_scopes(m, false);
    return r < 0 ? r : fill_scopes(m, true);
}

/* ---- The tree ---------------------------------------------------------- */

/* The length of the path without its last part, 0 if it has only one. */
static size_t shorter(const char *path, size_t len)
{
    while (len > 0 && path[len - 1] != '.')
        len--;
    return len > 0 ? len - 1 : 0;
}

/* The module below `root` with the longest path that is a prefix of the first `len` bytes of this
 * path. */
static int64_t find_prefix(const struct ml_modules *m, uint32_t root, const char *path, size_t len)
{
    int64_t found = ML_NO_MODULE;

    for (; len > 0 && found == ML_NO_MODULE; len = shorter(path, len))
        found = find(m, root, path, len);
    return found;
}

static int find_parent(struct ml_modules *m, struct ml_module *module)
{
    int64_t parent =
        find_prefix(m, module->root, module->path, shorter(module->path, module->path_len));

    if (parent < 0)
        return -ENOMEM;
    module->parent = parent == ML_NO_MODULE ? module->root : (uint32_t)parent;
    if (parent != ML_NO_MODULE)
        module->name = module->path + m->list.items[parent].path_len + 1;
    return 0;
}

static int find_parents(struct ml_modules *m)
{
    int r = 0;

    for (size_t i = 1; i < m->list.len && !m->nested && r == 0; i++)
        if (m->list.items[i].root != i)
            r = find_parent(m, &m->list.items[i]);
    return r;
}

static bool has_mxnet(const struct ml_trace *trace)
{
    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++) {
        uint32_t name = ml_trace_space(trace, i)->name;

        if (strcmp(ml_trace_string(trace, name, NULL), ML_MXNET_SPACE_NAME) == 0)
            return true;
    }
    return false;
}

int ml_modules_init(struct ml_modules *modules, const struct ml_trace *trace)
{
    int r;

    *modules = (struct ml_modules){.trace = trace, .has_nodes = has_mxnet(trace)};
    r = ml_vec_push(&modules->list, (struct ml_module){.path = "", .name = ""});
    if (r == 0)
        r = read_scopes(modules);
    return r < 0 ? r : find_parents(modules);
}

void ml_modules_release(struct ml_modules *modules)
{
    ml_vec_release(&modules->list);
    ml_vec_release(&modules->roots);
    ml_vec_release(&modules->of_scope);
    ml_scope_facts_release(&modules->facts);
    ml_intern_release(&modules->names);
    ml_map_release(&modules->of_label);
    ml_arena_release(&modules->arena);
    *modules = (struct ml_modules){0};
}

/* ---- Blocks ------------------------------------------------------------ */

static uint32_t module_around(const struct ml_modules *m, uint32_t scope)
{
    return scope < m->of_scope.len ? m->of_scope.items[scope] : ML_NO_MODULE;
}

/* "GPT#2.encoder.weight" contains the name of its model.
 * @return the rest of the label, else NULL */
static const char *after_root(const struct ml_modules *m, uint32_t root, const char *label)
{
    const struct ml_module *module = &m->list.items[root];

    return strncmp(label, module->path, module->path_len) == 0 && label[module->path_len] == '.'
               ? label + module->path_len + 1
               : NULL;
}

/* The length of a name without its last part: 5 for "embed_weight", 0 for "embed". */
static size_t without_part(const char *name, size_t len)
{
    while (len > 0 && name[len - 1] != '_')
        len--;
    return len > 0 ? len - 1 : 0;
}

/* A fused RNN in MXNet has the parameters "lstm_parameters", their optimizer state
 * "lstm_parameters.mean", and the node "lstm_rnn". */
static int64_t find_fused(const struct ml_modules *m, uint32_t root, const char *name)
{
    const char *state = strrchr(name, '.');
    size_t whole = state ? (size_t)(state - name) : strlen(name), len = without_part(name, whole);
    int64_t found = ML_NO_MODULE;
    struct ml_buf node;

    if (whole - len != strlen(FUSED) || memcmp(name + len, FUSED, strlen(FUSED)))
        return ML_NO_MODULE;
    ml_buf_init(&node);
    found = ml_buf_append(&node, name, len) < 0 || ml_buf_puts(&node, "_rnn") < 0
                ? -ENOMEM
                : find(m, root, (const char *)node.data, node.len);
    ml_buf_release(&node);
    return found;
}

/* The name of a parameter in MXNet starts with that of its graph node: "decoder_weight". MXNet's
 * own labels, and those of older traces, have a prefix: "arg_grad:decoder_weight". */
static int64_t search_node(const struct ml_modules *m, uint32_t root, const char *label)
{
    const char *colon = strrchr(label, ':'), *name = colon ? colon + 1 : label;
    int64_t found;

    if (!m->has_nodes && !colon)
        return ML_NO_MODULE;
    found = find_prefix(m, root, name, strlen(name));
    for (size_t len = strlen(name); found == ML_NO_MODULE && len > 0; len = without_part(name, len))
        found = find(m, root, name, len);
    return found == ML_NO_MODULE ? find_fused(m, root, name) : found;
}

static int64_t search_root(const struct ml_modules *m, uint32_t root, const char *label)
{
    const char *rest = after_root(m, root, label);
    int64_t found;

    if (!rest) {
        found = find_prefix(m, root, label, strlen(label));
        return found == ML_NO_MODULE ? search_node(m, root, label) : found;
    }
    found = find_prefix(m, root, rest, strlen(rest));
    return found == ML_NO_MODULE ? root : found;
}

/* If several models match, the one around the block wins, else the longest match. */
static int64_t search_roots(const struct ml_modules *m, uint32_t own_root, const char *label)
{
    int64_t best = own_root == ML_NO_MODULE ? ML_NO_MODULE : search_root(m, own_root, label);

    for (size_t i = 0; best >= 0 && i < m->roots.len && i < ROOTS_SEARCHED; i++) {
        int64_t found = search_root(m, m->roots.items[i], label);

        if (found < 0)
            return found;
        if (found != ML_NO_MODULE && (best == ML_NO_MODULE || (own_root == ML_NO_MODULE &&
                                                               m->list.items[found].path_len >
                                                                   m->list.items[best].path_len)))
            best = found;
    }
    return best;
}

static bool is_called(const struct ml_module *module, const char *name)
{
    return module->path_len == strlen(name) && memcmp(module->path, name, module->path_len) == 0;
}

/* Names that stand for a model, or for an optimizer. */
static bool is_stand_in(const struct ml_module *module)
{
    return module->is_optimizer || is_called(module, ML_LOADING_MODULE) ||
           is_called(module, ML_UNUSED_MODULE);
}

static uint32_t first_model(const struct ml_modules *m)
{
    for (size_t i = 0; i < m->roots.len; i++)
        if (!is_stand_in(&m->list.items[m->roots.items[i]]))
            return m->roots.items[i];
    return ML_NO_MODULE;
}

/* For a label that starts with no module's path: a parameter of the model itself, or of a program
 * that names its blocks in another way. */
static uint32_t without_match(const struct ml_modules *m, uint32_t scope, uint32_t own)
{
    if (own != ML_NO_MODULE)
        return is_in_phase(m, scope) ? m->list.items[own].root : own;
    return first_model(m);
}

static int64_t search_label(const struct ml_modules *m, const struct ml_block *block)
{
    uint32_t around = module_around(m, block->scope);
    bool is_model = !m->list.items[around].is_optimizer && !m->list.items[around].is_function;
    uint32_t own = is_model ? around : ML_NO_MODULE;
    int64_t found =
        search_roots(m, m->list.items[own].root, ml_trace_string(m->trace, block->label, NULL));

    return found == ML_NO_MODULE ? without_match(m, block->scope, own) : found;
}

static bool belongs_by_label(const struct ml_block *block)
{
    switch (block->category) {
    case MEMLEDGER_PARAMETER:
    case MEMLEDGER_GATHERED:
    case MEMLEDGER_KV_CACHE:
    case MEMLEDGER_BUFFER:
    case MEMLEDGER_GRADIENT:
    case MEMLEDGER_COMMUNICATION:
    case MEMLEDGER_OPTIMIZER_STATE: return block->label != 0;
    default: return false;
    }
}

/* The layer that needed it first has no more to do with it than the others. */
static bool is_shared(const struct ml_modules *m, const struct ml_block *block)
{
    uint32_t len;
    const char *label = ml_trace_string(m->trace, block->label, &len);
    size_t mark = strlen(ML_SHARED_WORKSPACE);

    return len > mark && memcmp(label + len - mark, ML_SHARED_WORKSPACE, mark) == 0;
}

int64_t ml_modules_of(struct ml_modules *modules, const struct ml_block *block)
{
    uint64_t key = (uint64_t)block->label << 32 | block->scope, known;
    int64_t module;

    if (block->category == MEMLEDGER_WORKSPACE && is_shared(modules, block))
        return ML_NO_MODULE;
    if (modules->nested || !belongs_by_label(block))
        return module_around(modules, block->scope);
    if (ml_map_get(&modules->of_label, key, &known))
        return (int64_t)known;
    module = search_label(modules, block);
    if (module >= 0 && ml_map_put(&modules->of_label, key, (uint64_t)module) < 0)
        return -ENOMEM;
    return module;
}

size_t ml_name_without_number(const char *name, size_t len)
{
    size_t end = len;

    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    return end < len && end > 1 && name[end - 1] == *ML_MODULE_NUMBER_MARK ? end - 1 : len;
}

int64_t ml_modules_first_alike(const struct ml_modules *m, uint32_t module)
{
    const struct ml_module *own = &m->list.items[module];
    const struct ml_module *root = &m->list.items[own->root];
    size_t len = ml_name_without_number(root->path, root->path_len);
    int64_t found;

    if (module == ML_NO_MODULE || m->nested || len == root->path_len)
        return module;
    found = find(m, ML_NO_MODULE, root->path, len);
    if (found > 0 && own != root)
        found = find(m, (uint32_t)found, own->path, own->path_len);
    return found == ML_NO_MODULE ? module : found;
}

const char *ml_module_title(const struct ml_modules *modules, uint32_t module,
                            struct ml_arena *arena)
{
    const struct ml_module *of = &modules->list.items[module];
    const char *title = NULL;
    struct ml_buf text;

    if (modules->nested)
        return ml_scope_path_dup(modules->trace, of->scope, arena);
    if (of->root == module)
        return ml_arena_dup(arena, of->path, of->path_len);
    ml_buf_init(&text);
    if (ml_buf_printf(&text, "%s > %s", modules->list.items[of->root].path, of->path) == 0)
        title = ml_arena_dup(arena, text.data, text.len);
    ml_buf_release(&text);
    return title;
}

const char *ml_module_class(const struct ml_modules *modules, uint32_t module,
                            struct ml_arena *arena)
{
    uint32_t len;
    const char *name =
        ml_trace_string(modules->trace, modules->list.items[module].class_name, &len);

    return ml_arena_dup(arena, name, len);
}
