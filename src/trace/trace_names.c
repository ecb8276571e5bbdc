/* trace_names.c: definitions of an open trace: read when it is opened, found by
 * number afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_impl.h"

#include <errno.h>
#include <string.h>

int ml_trace_load_def_block(struct ml_trace *t, struct ml_block_reader *r,
                            const struct ml_index_entry *e)
{
    const uint8_t *records;
    size_t len;
    int code = ml_block_load_entry(r, e);

    if (code)
        return code;
    if (!ml_trace_defs_admit(&t->defs, r->header.raw_bytes)) {
        r->reason = "it unpacks to more definitions than such a file can need";
        return -EBADMSG;
    }
    code = ml_block_unpack_records(r, &records, &len);
    return code ? code : ml_trace_defs_add(&t->defs, records, len, &r->reason);
}

int ml_trace_load_defs(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err)
{
    for (size_t i = 0; i < t->blocks.len; i++) {
        const struct ml_index_entry *e = &t->blocks.items[i];
        int code = e->type == ML_BLOCK_DEFS ? ml_trace_load_def_block(t, r, e) : 0;

        if (!code)
            continue;
        if (!ml_trace_may_pass(t, code))
            return ml_trace_block_error(t, e->offset, code, r->reason, err);
        ml_trace_count_damage(t, e->type, 0);
    }
    return 0;
}

const char *ml_trace_string(const struct ml_trace *t, uint32_t id, uint32_t *ret_len)
{
    const struct ml_trace_text *text = ml_id_table_get(&t->defs.tables[ML_DEF_STRING], id);

    if (ret_len)
        *ret_len = text->len;
    return text->bytes;
}

const struct ml_process *ml_trace_process(const struct ml_trace *t, uint32_t id)
{
    return ml_id_table_get(&t->defs.tables[ML_DEF_PROCESS], id);
}

const struct ml_thread *ml_trace_thread(const struct ml_trace *t, uint32_t id)
{
    return ml_id_table_get(&t->defs.tables[ML_DEF_THREAD], id);
}

const struct ml_space *ml_trace_space(const struct ml_trace *t, uint32_t id)
{
    return ml_id_table_get(&t->defs.tables[ML_DEF_SPACE], id);
}

const struct ml_scope *ml_trace_scope(const struct ml_trace *t, uint32_t id)
{
    return ml_id_table_get(&t->defs.tables[ML_DEF_SCOPE], id);
}

const struct ml_object *ml_trace_object(const struct ml_trace *t, uint32_t id)
{
    return ml_id_table_get(&t->defs.tables[ML_DEF_OBJECT], id);
}

const struct ml_library *ml_trace_library(const struct ml_trace *t, uint32_t id)
{
    return ml_id_table_get(&t->defs.tables[ML_DEF_LIBRARY], id);
}

const struct ml_frame *ml_trace_frame(const struct ml_trace *t, uint32_t id)
{
    return ml_id_table_get(&t->defs.tables[ML_DEF_FRAME], id);
}

const struct ml_stack *ml_trace_stack(const struct ml_trace *t, uint32_t id)
{
    return ml_id_table_get(&t->defs.tables[ML_DEF_STACK], id);
}

const struct ml_config *ml_trace_config(const struct ml_trace *t, uint32_t i)
{
    return ml_id_table_get(&t->defs.tables[ML_DEF_CONFIG], i);
}

static uint32_t count(const struct ml_trace *t, enum ml_def_tag tag)
{
    return (uint32_t)t->defs.tables[tag].len;
}

uint32_t ml_trace_strings(const struct ml_trace *t)
{
    return count(t, ML_DEF_STRING);
}

uint32_t ml_trace_processes(const struct ml_trace *t)
{
    return count(t, ML_DEF_PROCESS);
}

uint32_t ml_trace_threads(const struct ml_trace *t)
{
    return count(t, ML_DEF_THREAD);
}

uint32_t ml_trace_spaces(const struct ml_trace *t)
{
    return count(t, ML_DEF_SPACE);
}

uint32_t ml_trace_scopes(const struct ml_trace *t)
{
    return count(t, ML_DEF_SCOPE);
}

uint32_t ml_trace_objects(const struct ml_trace *t)
{
    return count(t, ML_DEF_OBJECT);
}

uint32_t ml_trace_libraries(const struct ml_trace *t)
{
    return count(t, ML_DEF_LIBRARY);
}

uint32_t ml_trace_frames(const struct ml_trace *t)
{
    return count(t, ML_DEF_FRAME);
}

uint32_t ml_trace_stacks(const struct ml_trace *t)
{
    return count(t, ML_DEF_STACK) - t->defs.inlined_stacks;
}

uint32_t ml_trace_configs(const struct ml_trace *t)
{
    return count(t, ML_DEF_CONFIG);
}

/* A setting that is given twice has its last value. */
const char *ml_trace_setting(const struct ml_trace *t, const char *key)
{
    for (uint32_t i = ml_trace_configs(t); i-- > 0;) {
        const struct ml_config *config = ml_trace_config(t, i);

        if (!strcmp(ml_trace_string(t, config->key, NULL), key))
            return ml_trace_string(t, config->value, NULL);
    }
    return NULL;
}
