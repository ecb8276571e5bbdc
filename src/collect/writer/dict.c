/* dict.c: numbers the definitions of a trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dict.h"

#include <errno.h>
#include <string.h>

#include "block.h"
#include "ring.h"

/* This many scope numbers are reserved for ML_OTHER_NAMES below different parents. */
#define OTHER_SCOPES_SHARE 256

static void fail(struct ml_dict *d, int error)
{
    d->error = error;
    d->unkept++;
}

/* Precondition: has_room. Every number must have its record: numbers in the
 * file rise one by one. */
static void emit(struct ml_dict *d, const struct ml_def *def)
{
    d->records.len = (size_t)(ml_def_put(d->records.data + d->records.len, def) - d->records.data);
    d->record_count++;
}

static bool has_room(struct ml_dict *d, size_t len)
{
    return !ml_buf_reserve(&d->records, ml_def_room(&(struct ml_def){.len = (uint32_t)len}));
}

/* The number of these bytes in a table that ends at `limit`, -1 if it is full or
 * memory ran out; d->error says which. */
static int64_t intern(struct ml_dict *d, struct ml_intern *table, const void *key, size_t bytes,
                      uint32_t limit, bool *ret_new)
{
    int64_t number = ml_intern_find(table, key, bytes);

    *ret_new = number < 0;
    if (number >= 0)
        return number;
    if (ml_intern_len(table) >= limit)
        number = -EOVERFLOW;
    else
        number = has_room(d, bytes) ? ml_intern_put(table, key, bytes, NULL) : -ENOMEM;
    if (number >= 0)
        return number;
    fail(d, (int)number);
    return -1;
}

int ml_dict_init(struct ml_dict *d)
{
    memset(d, 0, sizeof(*d));
    d->id_max = ML_ID_MAX;
    ml_intern_init(&d->strings);
    ml_intern_init(&d->scopes);
    ml_intern_init(&d->frames);
    ml_buf_init(&d->records);
    /* String 0 is "" in every trace, without a record. */
    return (int)ml_intern_put(&d->strings, "", 0, NULL);
}

void ml_dict_release(struct ml_dict *d)
{
    ml_intern_release(&d->strings);
    ml_intern_release(&d->scopes);
    ml_intern_release(&d->frames);
    ml_pairs_release(&d->stacks);
    for (int i = 0; i < ML_DEF_TAGS; i++)
        ml_vec_release(&d->by_tag[i]);
    ml_buf_release(&d->records);
}

/* -1: there is no room. */
static int64_t string_before(struct ml_dict *d, const char *bytes, size_t len, uint32_t limit)
{
    bool is_new;
    int64_t id = intern(d, &d->strings, bytes, len, limit, &is_new);

    if (id >= 0 && is_new)
        emit(d,
             &(struct ml_def){
                 .tag = ML_DEF_STRING, .id = (uint32_t)id, .bytes = bytes, .len = (uint32_t)len});
    return id;
}

/* The last number is reserved for it. */
static uint32_t other_names(struct ml_dict *d)
{
    uint64_t unkept = d->unkept;
    int64_t id = string_before(d, ML_OTHER_NAMES, strlen(ML_OTHER_NAMES), d->id_max);

    d->unkept = unkept; /* one use counts once */
    return id >= 0 ? (uint32_t)id : 0;
}

uint32_t ml_dict_string(struct ml_dict *d, const char *bytes, size_t len)
{
    int64_t id;

    if (len > ML_STRING_MAX_BYTES)
        len = ML_STRING_MAX_BYTES;
    id = string_before(d, bytes, len, d->id_max - 1);
    return id >= 0 ? (uint32_t)id : other_names(d);
}

uint32_t ml_dict_cstr(struct ml_dict *d, const char *text)
{
    return ml_dict_string(d, text, strlen(text));
}

const char *ml_dict_text(const struct ml_dict *d, uint32_t string)
{
    const char *text = ml_intern_get(&d->strings, string, NULL);
    return text ? text : "?";
}

uint32_t ml_dict_add(struct ml_dict *d, enum ml_def_tag tag, const uint64_t fields[ML_DEF_FIELDS])
{
    struct ml_def def = {.tag = (uint8_t)tag, .id = (uint32_t)d->by_tag[tag].len};

    memcpy(def.fields, fields, sizeof(def.fields));
    if (def.id >= d->id_max || !has_room(d, 0) || ml_vec_push(&d->by_tag[tag], def)) {
        fail(d, def.id >= d->id_max ? -EOVERFLOW : -ENOMEM);
        return 0;
    }
    emit(d, &def);
    return def.id;
}

const struct ml_def *ml_dict_get(const struct ml_dict *d, enum ml_def_tag tag, uint32_t id)
{
    return id < d->by_tag[tag].len ? &d->by_tag[tag].items[id] : NULL;
}

/* 0: there is no room. */
static uint32_t scope_before(struct ml_dict *d, const struct ml_dict_scope *scope, uint32_t limit)
{
    bool is_new;
    int64_t number = intern(d, &d->scopes, scope, sizeof(*scope), limit, &is_new);

    if (number >= 0 && is_new)
        emit(d, &(struct ml_def){.tag = ML_DEF_SCOPE,
                                 .id = (uint32_t)number + 1,
                                 .fields = {[ML_SCOPE_PARENT] = scope->parent,
                                            [ML_SCOPE_KIND] = scope->kind,
                                            [ML_SCOPE_NAME] = scope->name,
                                            [ML_SCOPE_CLASS] = scope->class_name}});
    return (uint32_t)(number + 1);
}

uint32_t ml_dict_scope(struct ml_dict *d, const struct ml_dict_scope *scope)
{
    uint32_t max = d->id_max - 1; /* scope 0 is none */
    uint32_t number = scope_before(d, scope, max - max / OTHER_SCOPES_SHARE);
    struct ml_dict_scope other = {.parent = scope->parent, .kind = scope->kind};
    uint64_t unkept = d->unkept;

    if (number)
        return number;
    other.name = other_names(d);
    number = scope_before(d, &other, max);
    d->unkept = unkept;
    return number ? number : scope->parent;
}

struct ml_dict_scope ml_dict_scope_at(const struct ml_dict *d, uint32_t scope)
{
    struct ml_dict_scope found = {0};
    const char *bytes = scope ? ml_intern_get(&d->scopes, scope - 1, NULL) : NULL;

    if (bytes)
        memcpy(&found, bytes, sizeof(found));
    return found;
}

uint32_t ml_dict_scope_parent(const struct ml_dict *d, uint32_t scope)
{
    return ml_dict_scope_at(d, scope).parent;
}

int64_t ml_dict_frame(struct ml_dict *d, const struct ml_dict_frame *frame)
{
    bool is_new;
    int64_t number = intern(d, &d->frames, frame, sizeof(*frame), d->id_max, &is_new);

    if (number >= 0 && is_new)
        emit(d, &(struct ml_def){.tag = ML_DEF_FRAME,
                                 .id = (uint32_t)number,
                                 .fields = {[ML_FRAME_KIND] = frame->kind,
                                            [ML_FRAME_WHERE] = frame->where,
                                            [ML_FRAME_WHAT] = frame->what,
                                            [ML_FRAME_LINE] = frame->line}});
    return number;
}

uint32_t ml_dict_stack(struct ml_dict *d, uint32_t caller, int64_t frame)
{
    uint64_t key = ml_pair(caller, (uint64_t)frame);
    int64_t number;

    if (frame < 0)
        return caller;
    number = ml_pairs_find(&d->stacks, key);
    if (number >= 0)
        return (uint32_t)number + 1;
    if (ml_pairs_len(&d->stacks) >= d->id_max - 1)
        number = -EOVERFLOW;
    else
        number = has_room(d, 0) ? ml_pairs_add(&d->stacks, key) : -ENOMEM;
    if (number < 0) {
        fail(d, (int)number);
        return caller;
    }
    emit(d, &(struct ml_def){
                .tag = ML_DEF_STACK,
                .id = (uint32_t)number + 1,
                .fields = {[ML_STACK_CALLER] = caller, [ML_STACK_FRAME] = (uint32_t)frame}});
    return (uint32_t)number + 1;
}

bool ml_dict_stack_at(const struct ml_dict *d, uint32_t stack, uint32_t *ret_caller,
                      uint32_t *ret_frame)
{
    uint64_t key;

    if (!stack || !ml_pairs_get(&d->stacks, stack - 1, &key))
        return false;
    *ret_caller = (uint32_t)(key >> 32);
    *ret_frame = (uint32_t)key;
    return true;
}

uint32_t ml_dict_frames(const struct ml_dict *d)
{
    return ml_intern_len(&d->frames);
}

struct ml_dict_frame ml_dict_frame_at(const struct ml_dict *d, uint32_t frame)
{
    struct ml_dict_frame found = {0};
    const char *bytes = ml_intern_get(&d->frames, frame, NULL);

    if (bytes)
        memcpy(&found, bytes, sizeof(found));
    return found;
}

void ml_dict_symbol(struct ml_dict *d, uint32_t frame, uint32_t function)
{
    ml_dict_source(d, frame, function, 0, 0);
}

void ml_dict_source(struct ml_dict *d, uint32_t frame, uint32_t function, uint32_t file,
                    uint32_t line)
{
    if (!has_room(d, 0)) {
        fail(d, -ENOMEM);
        return;
    }
    emit(d, &(struct ml_def){.tag = ML_DEF_SYMBOL,
                             .id = frame,
                             .fields = {[ML_SYMBOL_FUNCTION] = function,
                                        [ML_SYMBOL_FILE] = file,
                                        [ML_SYMBOL_LINE] = line}});
}

static void give(struct ml_dict *d, enum ml_def_tag tag, uint32_t id, uint64_t *field,
                 const char *text)
{
    *field = ml_dict_cstr(d, text);
    if (has_room(d, 0))
        emit(d, &(struct ml_def){.tag = tag, .id = id, .fields = {[ML_GIVEN_NAME] = *field}});
    else
        fail(d, -ENOMEM);
}

void ml_dict_thread_name(struct ml_dict *d, uint32_t thread, const char *name)
{
    if (thread < d->by_tag[ML_DEF_THREAD].len)
        give(d, ML_DEF_THREAD_NAME, thread,
             &d->by_tag[ML_DEF_THREAD].items[thread].fields[ML_THREAD_NAME], name);
}

void ml_dict_process_role(struct ml_dict *d, uint32_t process, const char *role)
{
    if (process < d->by_tag[ML_DEF_PROCESS].len)
        give(d, ML_DEF_PROCESS_ROLE, process,
             &d->by_tag[ML_DEF_PROCESS].items[process].fields[ML_PROCESS_ROLE], role);
}

void ml_dict_process_place(struct ml_dict *d, uint32_t process, const char *place)
{
    uint64_t string;

    if (process < d->by_tag[ML_DEF_PROCESS].len)
        give(d, ML_DEF_PROCESS_PLACE, process, &string, place);
}

void ml_dict_config(struct ml_dict *d, const char *key, const char *value)
{
    uint32_t key_string = ml_dict_cstr(d, key);
    uint32_t value_string = ml_dict_cstr(d, value);

    if (!has_room(d, 0)) {
        fail(d, -ENOMEM);
        return;
    }
    emit(d, &(struct ml_def){.tag = ML_DEF_CONFIG,
                             .id = key_string,
                             .fields = {[ML_CONFIG_VALUE] = value_string}});
}
