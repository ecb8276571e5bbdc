/* oom_changes.c: the changes that would have made room for a request; see oom_verdict.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event_names.h"
#include "memledger/memledger.h"
#include "oom_verdict.h"
#include "torch_packing.h"

#define QUIET_PART 10   /* of the slices: growth that reached the refusal */
#define BATCH_MOST 0.95 /* a batch of less than a twentieth is not a practical change */

/* Bytes of blocks by the type of their numbers. */
struct in_types {
    uint64_t half_bytes; /* in 16 or 8 bits */
    uint64_t full_bytes; /* in float32 */
    uint64_t saving;     /* of these, in bfloat16 */
};

struct changes {
    const struct ml_replay *replay;
    const struct ml_block_types *types;
    struct ml_modules *modules;
    const struct ml_leaks *leaks;
    struct ml_oom *oom;
    struct ml_arena *arena;
    uint64_t categories[ML_CATEGORIES];
    ML_VEC(uint64_t) activations; /* by module, including modules inside */
    struct in_types parameter_types, activation_types;
};

static int add(struct changes *c, struct ml_oom_change change)
{
    if (!change.name)
        change.name = "";
    return change.bytes ? ml_vec_push(&c->oom->changes, change) : 0;
}

/* A change that frees this many bytes. */
static struct ml_oom_change freeing(const struct changes *c, enum ml_oom_change_kind kind,
                                    uint64_t bytes)
{
    const struct ml_seen *short_bytes = &c->oom->short_bytes;

    return (struct ml_oom_change){
        .kind = kind,
        .bytes = bytes,
        .judged = short_bytes->known,
        .fits = short_bytes->known && bytes >= short_bytes->bytes,
    };
}

/* ---- Live memory ------------------------------------------------------- */

/* PyTorch's CUDA allocator rounds the size of a block up. */
static uint64_t half_of(const struct changes *c, uint64_t bytes)
{
    uint64_t half = bytes / 2;

    return c->oom->torch ? ml_min_u64(bytes, ml_torch_rounded_bytes(half)) : half;
}

static void count_type(struct changes *c, struct in_types *t, const struct ml_block *block)
{
    static const char *const halves[] = {"bfloat16", "float16", "float8_"};
    const char *type = ml_block_type(c->types, c->replay, block);

    for (size_t i = 0; i < ML_ARRAY_SIZE(halves); i++)
        if (strncmp(type, halves[i], strlen(halves[i])) == 0)
            t->half_bytes += block->size;
    if (strcmp(type, "float32") == 0) {
        t->full_bytes += block->size;
        t->saving += block->size - half_of(c, block->size);
    }
}

static int count_block(struct changes *c, const struct ml_block *block)
{
    int64_t module;

    if (block->category < ML_CATEGORIES)
        c->categories[block->category] += block->size;
    if (block->category == MEMLEDGER_PARAMETER)
        count_type(c, &c->parameter_types, block);
    if (block->category == MEMLEDGER_ACTIVATION)
        count_type(c, &c->activation_types, block);
    if (block->category != MEMLEDGER_ACTIVATION || c->modules->nested)
        return 0;
    module = ml_modules_of(c->modules, block);
    if (module < 0)
        return (int)module;
    for (size_t m = (size_t)module; m != ML_NO_MODULE && m < c->activations.len;
         m = c->modules->list.items[m].parent)
        c->activations.items[m] += block->size;
    return 0;
}

static int count_blocks(struct changes *c)
{
    const struct ml_block *block;
    size_t cursor = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < c->modules->list.len; i++)
        r = ml_vec_push(&c->activations, 0);
    while (r == 0 && (block = ml_snapshot_next(&c->oom->holders.at, c->replay, &cursor)))
        r = count_block(c, block);
    return r;
}

/* ---- The leak ---------------------------------------------------------- */

/* Without steps, data that is loaded once grows as a leak does, but ends before the refusal. */
static bool led_there(const struct ml_leaks *leaks, const struct ml_leak *leak)
{
    return leak->sign != ML_LEAK_MAYBE &&
           (leaks->unit == ML_LEAK_BY_STEP || leak->quiet <= leaks->measured / QUIET_PART);
}

const struct ml_leak *ml_oom_leak(const struct ml_leaks *leaks)
{
    for (size_t i = 0; i < leaks->list.len; i++)
        if (led_there(leaks, &leaks->list.items[i]))
            return &leaks->list.items[i];
    return NULL;
}

size_t ml_oom_leak_count(const struct ml_leaks *leaks)
{
    size_t count = 0;

    for (size_t i = 0; i < leaks->list.len; i++)
        count += led_there(leaks, &leaks->list.items[i]);
    return count;
}

static const char *name_in_leak(const struct changes *c, const struct ml_leak *leak,
                                enum ml_key key)
{
    for (size_t i = 0; i < c->leaks->by_count; i++)
        if (c->leaks->by[i] == key)
            return leak->names[i];
    return "";
}

/* Takes what the module leaks from it and from those around it. */
static int forgive_module(struct changes *c, const char *module, uint64_t bytes)
{
    size_t m = 0;

    for (; m < c->activations.len; m++) {
        const char *title =
            c->activations.items[m] ? ml_module_title(c->modules, (uint32_t)m, c->arena) : "";

        if (!title)
            return -ENOMEM;
        if (*title && strcmp(title, module) == 0)
            break;
    }
    for (; m != ML_NO_MODULE && m < c->activations.len; m = c->modules->list.items[m].parent)
        c->activations.items[m] -= ml_min_u64(c->activations.items[m], bytes);
    return 0;
}

static void forgive_type(struct in_types *t, uint64_t bytes)
{
    t->full_bytes -= ml_min_u64(t->full_bytes, bytes);
    t->saving -= ml_min_u64(t->saving, bytes / 2);
}

/* What grew does not grow with the batch, and is kept by the program, not for backward. */
static int forgive(struct changes *c, const struct ml_leak *leak)
{
    const char *category = name_in_leak(c, leak, ML_KEY_CATEGORY);

    for (uint64_t i = 0; i < ML_CATEGORIES; i++)
        if (strcmp(category, ml_category_name(i)) == 0)
            c->categories[i] -= ml_min_u64(c->categories[i], leak->grown_bytes);
    if (strcmp(category, ml_category_name(MEMLEDGER_ACTIVATION)))
        return 0;
    forgive_type(&c->activation_types, leak->grown_bytes);
    return forgive_module(c, name_in_leak(c, leak, ML_KEY_MODULE), leak->grown_bytes);
}

/* All groups that grew: one reference to a result keeps the activations of every layer. */
static int stop_leak(struct changes *c)
{
    const struct ml_leak *strongest = ml_oom_leak(c->leaks);
    struct ml_oom_change change;
    const char *module;
    uint64_t bytes = 0;
    int r = 0;

    if (!strongest)
        return 0;
    for (size_t i = 0; r == 0 && i < c->leaks->list.len; i++) {
        const struct ml_leak *leak = &c->leaks->list.items[i];

        if (led_there(c->leaks, leak)) {
            bytes += leak->grown_bytes;
            r = forgive(c, leak);
        }
    }
    module = name_in_leak(c, strongest, ML_KEY_MODULE);
    change = freeing(c, ML_CHANGE_LEAK, bytes);
    change.count = ml_oom_leak_count(c->leaks);
    change.name = ml_arena_dup(c->arena, module, strlen(module)); /* the leak does not last */
    change.by_steps = c->leaks->unit == ML_LEAK_BY_STEP;
    if (!change.name)
        return -ENOMEM;
    return r == 0 ? add(c, change) : r;
}

/* ---- The layout -------------------------------------------------------- */

static int change_layout(struct changes *c)
{
    const struct ml_oom *o = c->oom;

    if (!o->torch || !o->has_segments || o->place.expandable ||
        o->expandable_bytes > o->least_capacity)
        return 0;
    return add(c, (struct ml_oom_change){.kind = ML_CHANGE_EXPANDABLE,
                                         .bytes = o->place.hole_bytes,
                                         .judged = true,
                                         .fits = true});
}

static int least_live_first(const void *a, const void *b)
{
    const struct ml_segment *x = *(const struct ml_segment *const *)a,
                            *y = *(const struct ml_segment *const *)b;

    if (x->live_bytes != y->live_bytes)
        return x->live_bytes < y->live_bytes ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Segments that go back to the driver if the few blocks in them are freed. */
static int empty_segments(struct changes *c, const struct ml_segment_map *map)
{
    const struct ml_oom *o = c->oom;
    ML_VEC(const struct ml_segment *) order = {0};
    uint64_t wanted = o->need_bytes - ml_min_u64(o->need_bytes, o->least_capacity - o->place.bytes);
    struct ml_oom_change change = {.kind = ML_CHANGE_SEGMENTS, .judged = true};
    uint64_t given = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < map->list.len; i++) {
        const struct ml_segment *s = &map->list.items[i];

        if (!s->foreign && s->pid == o->pid && s->count > 0)
            r = ml_vec_push(&order, s);
    }
    ml_vec_sort(&order, least_live_first);
    for (size_t i = 0; r == 0 && i < order.len && given < wanted; i++) {
        given = ml_sum_u64(given, order.items[i]->bytes);
        change.bytes += order.items[i]->live_bytes;
        change.count++;
    }
    change.fits = given >= wanted;
    ml_vec_release(&order);
    return r == 0 && change.fits ? add(c, change) : r;
}

/* ---- Limits ------------------------------------------------------------ */

static int raise_limit(struct changes *c)
{
    const struct ml_oom *o = c->oom;

    if (o->verdict == ML_OOM_LIMIT)
        return add(c, (struct ml_oom_change){.kind = ML_CHANGE_RAISE_LIMIT,
                                             .bytes = o->short_bytes.bytes ? o->short_bytes.bytes
                                                                           : o->refusal.bytes,
                                             .judged = true,
                                             .fits = true});
    if (!o->limited)
        return 0;
    return add(c, (struct ml_oom_change){.kind = ML_CHANGE_RAISE_LIMIT,
                                         .bytes = o->need_bytes,
                                         .judged = true,
                                         .fits = o->driver.free.bytes >= o->need_bytes});
}

/* ---- Memory to reduce -------------------------------------------------- */

static bool grows_with_batch(const struct ml_oom *o)
{
    return strcmp(o->phase, "forward") == 0 || strcmp(o->phase, "recompute") == 0 ||
           strcmp(o->phase, "backward") == 0;
}

/* Memory that grows with the batch shrinks with it. */
static int smaller_batch(struct changes *c)
{
    static const uint8_t growing[] = {MEMLEDGER_ACTIVATION, MEMLEDGER_INTERMEDIATE_GRADIENT,
                                      MEMLEDGER_INPUT, MEMLEDGER_TEMPORARY};
    const struct ml_seen *short_bytes = &c->oom->short_bytes;
    struct ml_oom_change change = {.kind = ML_CHANGE_BATCH, .judged = short_bytes->known};

    for (size_t i = 0; i < ML_ARRAY_SIZE(growing); i++)
        change.of_bytes = ml_sum_u64(change.of_bytes, c->categories[growing[i]]);
    if (grows_with_batch(c->oom) && !c->oom->refusal.killed) /* else it is live */
        change.of_bytes = ml_sum_u64(change.of_bytes, c->oom->refusal.bytes);
    change.bytes = change.judged ? short_bytes->bytes : change.of_bytes;
    if (!change.judged || change.of_bytes == 0)
        return change.of_bytes ? add(c, change) : 0;
    change.fraction = (double)change.bytes / (double)change.of_bytes;
    change.fits = change.fraction <= BATCH_MOST;
    return change.fits ? add(c, change) : 0;
}

/* The module inside the model that keeps the most for backward. */
static int recompute(struct changes *c)
{
    struct ml_oom_change change;
    uint32_t best = ML_NO_MODULE;

    for (uint32_t i = 1; i < c->activations.len; i++)
        if (c->modules->list.items[i].parent != ML_NO_MODULE &&
            (best == ML_NO_MODULE || c->activations.items[i] > c->activations.items[best]))
            best = i;
    if (best == ML_NO_MODULE)
        return 0;
    change = freeing(c, ML_CHANGE_RECOMPUTE, c->activations.items[best]);
    change.name = ml_module_title(c->modules, best, c->arena);
    return change.name ? add(c, change) : -ENOMEM;
}

/* A run that keeps most of its activations in fewer bits, or before its first call most of its
 * parameters, is in lower precision already, and has float32 where it must. */
static int use_bfloat16(struct changes *c)
{
    const struct in_types *p = &c->parameter_types, *a = &c->activation_types;
    const struct in_types *used = a->half_bytes || a->full_bytes ? a : p;
    struct ml_oom_change change = freeing(c, ML_CHANGE_BFLOAT16, ml_sum_u64(p->saving, a->saving));

    if (used->half_bytes >= used->full_bytes)
        return 0;
    change.of_bytes = ml_sum_u64(p->full_bytes, a->full_bytes);
    change.name = a->saving == 0   ? "parameters"
                  : p->saving == 0 ? "activations"
                                   : "parameters and activations";
    return add(c, change);
}

static int keep_less(struct changes *c)
{
    bool in_forward = strcmp(c->oom->phase, "forward") == 0;
    int r = stop_leak(c);

    if (r == 0)
        r = smaller_batch(c);
    if (r == 0 && in_forward)
        r = add(c, freeing(c, ML_CHANGE_GRADIENTS, c->categories[MEMLEDGER_GRADIENT]));
    if (r == 0)
        r = add(c, freeing(c, ML_CHANGE_OPTIMIZER, c->categories[MEMLEDGER_OPTIMIZER_STATE]));
    if (r == 0)
        r = use_bfloat16(c);
    return r < 0 ? r : recompute(c);
}

/* A leak is the cause, so that it comes first if it is enough. */
static int smallest_first(const void *a, const void *b)
{
    const struct ml_oom_change *x = a, *y = b;

    if (x->fits != y->fits)
        return x->fits ? -1 : 1;
    if (x->fits && (x->kind == ML_CHANGE_LEAK) != (y->kind == ML_CHANGE_LEAK))
        return x->kind == ML_CHANGE_LEAK ? -1 : 1;
    if (x->bytes != y->bytes && x->fits)
        return x->bytes < y->bytes ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

int ml_oom_changes(const struct ml_replay *replay, const struct ml_segment_map *map,
                   const struct ml_block_types *types, struct ml_modules *modules,
                   const struct ml_leaks *leaks, struct ml_oom *oom, struct ml_arena *arena)
{
    struct changes c = {.replay = replay,
                        .types = types,
                        .modules = modules,
                        .leaks = leaks,
                        .oom = oom,
                        .arena = arena};
    int r = count_blocks(&c);

    if (r == 0)
        r = change_layout(&c);
    if (r == 0 && oom->verdict == ML_OOM_FRAGMENTATION)
        r = empty_segments(&c, map);
    if (r == 0)
        r = raise_limit(&c);
    if (r == 0 && oom->verdict != ML_OOM_FRAGMENTATION && oom->rule != ML_RULE_FREE_ENOUGH)
        r = keep_less(&c);
    ml_vec_sort(&oom->changes, smallest_first);
    ml_vec_release(&c.activations);
    return r;
}
