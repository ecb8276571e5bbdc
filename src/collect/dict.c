/* dict.c: numbers for everything that has a name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dict.h"

#include <errno.h>
#include <string.h>

#include "block.h"

static void emit(struct ml_dict *d, const struct ml_def *def)
{
    if (ml_buf_reserve(&d->records, ml_def_room(def))) {
        d->error = -ENOMEM;
        return;
    }
    d->records.len = (size_t)(ml_def_put(d->records.data + d->records.len, def) - d->records.data);
    d->record_count++;
}

int ml_dict_init(struct ml_dict *d)
{
    memset(d, 0, sizeof(*d));
    ml_intern_init(&d->strings);
    ml_intern_init(&d->scopes);
    ml_intern_init(&d->frames);
    ml_intern_init(&d->stacks);
    ml_buf_init(&d->records);
    /* String 0 is "" in every trace, without a record. */
    return (int)ml_intern_put(&d->strings, "", 0, NULL);
}

void ml_dict_release(struct ml_dict *d)
{
    ml_intern_release(&d->strings);
    ml_intern_release(&d->scopes);
    ml_intern_release(&d->frames);
    ml_intern_release(&d->stacks);
    for (int i = 0; i < ML_DEF_TAGS; i++)
        ml_vec_release(&d->by_tag[i]);
    ml_buf_release(&d->records);
}

uint32_t ml_dict_string(struct ml_dict *d, const char *bytes, size_t len)
{
    bool is_new = false;
    int64_t id;

    if (len > ML_STRING_MAX_BYTES)
        len = ML_STRING_MAX_BYTES;
    id = ml_intern_put(&d->strings, bytes, len, &is_new);
    if (id < 0 || id >= ML_ID_MAX) {
        d->error = id < 0 ? (int)id : -EOVERFLOW;
        return 0;
    }
    if (is_new)
        emit(d,
             &(struct ml_def){
                 .tag = ML_DEF_STRING, .id = (uint32_t)id, .bytes = bytes, .len = (uint32_t)len});
    return (uint32_t)id;
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
    if (def.id == ML_ID_MAX || ml_vec_push(&d->by_tag[tag], def)) {
        d->error = -ENOMEM;
        return 0;
    }
    emit(d, &def);
    return def.id;
}

const struct ml_def *ml_dict_get(const struct ml_dict *d, enum ml_def_tag tag, uint32_t id)
{
    return id < d->by_tag[tag].len ? &d->by_tag[tag].items[id] : NULL;
}

/* The number of these bytes in a table that ends at `limit`, -1 when it is full;
 * d->error says why. */
static int64_t intern(struct ml_dict *d, struct ml_intern *table, const void *key, size_t bytes,
                      uint32_t limit, bool *ret_new)
{
    int64_t number = ml_intern_put(table, key, bytes, ret_new);

    if (number >= 0 && number < limit)
        return number;
    d->error = number < 0 ? (int)number : -EOVERFLOW;
    return -1;
}

uint32_t ml_dict_scope(struct ml_dict *d, const struct ml_dict_scope *scope)
{
    bool is_new = false;
    int64_t number = intern(d, &d->scopes, scope, sizeof(*scope), ML_ID_MAX - 1, &is_new);

    if (number < 0)
        return scope->parent;
    if (is_new)
        emit(d, &(struct ml_def){.tag = ML_DEF_SCOPE,
                                 .id = (uint32_t)number + 1,
                                 .fields = {[ML_SCOPE_PARENT] = scope->parent,
                                            [ML_SCOPE_KIND] = scope->kind,
                                            [ML_SCOPE_NAME] = scope->name,
                                            [ML_SCOPE_CLASS] = scope->class_name}});
    return (uint32_t)number + 1;
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
    bool is_new = false;
    int64_t number = intern(d, &d->frames, frame, sizeof(*frame), ML_ID_MAX, &is_new);

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
    uint32_t key[2] = {caller, (uint32_t)frame};
    bool is_new = false;
    int64_t number = -1;

    if (frame >= 0)
        number = intern(d, &d->stacks, key, sizeof(key), ML_ID_MAX - 1, &is_new);
    if (number < 0)
        return caller;
    if (is_new)
        emit(d, &(struct ml_def){
                    .tag = ML_DEF_STACK,
                    .id = (uint32_t)number + 1,
                    .fields = {[ML_STACK_CALLER] = caller, [ML_STACK_FRAME] = (uint32_t)frame}});
    return (uint32_t)number + 1;
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
    emit(d, &(struct ml_def){
                .tag = ML_DEF_SYMBOL, .id = frame, .fields = {[ML_SYMBOL_FUNCTION] = function}});
}

void ml_dict_config(struct ml_dict *d, const char *key, const char *value)
{
    uint32_t key_string = ml_dict_cstr(d, key);
    uint32_t value_string = ml_dict_cstr(d, value);

    emit(d, &(struct ml_def){.tag = ML_DEF_CONFIG,
                             .id = key_string,
                             .fields = {[ML_CONFIG_VALUE] = value_string}});
}
