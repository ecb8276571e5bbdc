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
    ml_buf_init(&d->records);
    /* String 0 is "" in every trace, without a record. */
    return (int)ml_intern_put(&d->strings, "", 0, NULL);
}

void ml_dict_release(struct ml_dict *d)
{
    ml_intern_release(&d->strings);
    ml_intern_release(&d->scopes);
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

uint32_t ml_dict_scope(struct ml_dict *d, uint32_t parent, uint32_t kind, uint32_t name)
{
    uint32_t key[3] = {parent, kind, name};
    bool is_new = false;
    int64_t number = ml_intern_put(&d->scopes, key, sizeof(key), &is_new);

    if (number < 0 || number + 1 >= ML_ID_MAX) {
        d->error = number < 0 ? (int)number : -EOVERFLOW;
        return parent;
    }
    if (is_new)
        emit(d,
             &(struct ml_def){
                 .tag = ML_DEF_SCOPE,
                 .id = (uint32_t)number + 1,
                 .fields = {
                     [ML_SCOPE_PARENT] = parent, [ML_SCOPE_KIND] = kind, [ML_SCOPE_NAME] = name}});
    return (uint32_t)number + 1;
}

uint32_t ml_dict_scope_parent(const struct ml_dict *d, uint32_t scope)
{
    uint32_t key[3] = {0};
    const char *bytes = scope ? ml_intern_get(&d->scopes, scope - 1, NULL) : NULL;

    if (bytes)
        memcpy(key, bytes, sizeof(key));
    return key[0];
}

void ml_dict_config(struct ml_dict *d, const char *key, const char *value)
{
    uint32_t key_string = ml_dict_cstr(d, key);
    uint32_t value_string = ml_dict_cstr(d, value);

    emit(d, &(struct ml_def){.tag = ML_DEF_CONFIG,
                             .id = key_string,
                             .fields = {[ML_CONFIG_VALUE] = value_string}});
}
