/* target_definitions.c: see target_definitions.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "target_definitions.h"

#include <string.h>

#include "memledger/memledger.h"
#include "record_words.h"

#define OBJECTS_MAX (1u << 20)

void ml_target_take_string(struct ml_stage *stage, struct ml_source *s)
{
    uint32_t number = ml_high(ml_word(s, 1));
    size_t len = ml_low(ml_word(s, 1));
    struct ml_target *t = s->target;

    if (ml_table_reach(&t->strings, number, ML_NAMES_MAX))
        t->strings.items[number] = ml_dict_string(stage->dict, (const char *)&s->record[2], len);
}

void ml_target_take_space(struct ml_source *s)
{
    struct ml_target *t = s->target;
    uint32_t number = ml_high(ml_word(s, 1));
    uint64_t names = ml_word(s, 2);

    if (!number || !ml_table_reach(&t->spaces, number, ML_SPACE_MAX + 1))
        return;
    t->spaces.items[number].level = ml_low(ml_word(s, 1));
    t->spaces.items[number].device = ml_target_string(t, ml_high(names));
    t->spaces.items[number].name = ml_target_string(t, ml_low(names));
}

/* Whether the recorder's hooks write into it that use this name. */
static bool is_host_space(const struct ml_stage *stage, const struct ml_target_space *s,
                          const char *name)
{
    return s->level == MEMLEDGER_BLOCK && !strcmp(ml_dict_text(stage->dict, s->device), "cpu") &&
           !strcmp(ml_dict_text(stage->dict, s->name), name);
}

bool ml_target_define_space(struct ml_stage *stage, struct ml_target *t, uint32_t number)
{
    uint64_t fields[ML_DEF_FIELDS] = {[ML_SPACE_PROCESS] = t->process};
    uint64_t unkept = stage->dict->unkept;
    struct ml_target_space *s;
    uint32_t id;

    if (!ml_table_reach(&t->spaces, number, ML_SPACE_MAX + 1))
        return false;
    s = &t->spaces.items[number];
    if (!s->level)
        s->device = s->name = ml_dict_cstr(stage->dict, "unknown");
    fields[ML_SPACE_DEVICE] = s->device;
    fields[ML_SPACE_LEVEL] = s->level ? s->level : MEMLEDGER_BLOCK;
    fields[ML_SPACE_NAME] = s->name;
    s->is_heap = is_host_space(stage, s, ML_HEAP_SPACE_NAME);
    if (s->is_heap) {
        s->sampled = fields[ML_SPACE_SAMPLED] = stage->heap_sampled;
        fields[ML_SPACE_LEAST] = stage->heap_least;
    }
    s->is_heap = s->is_heap || is_host_space(stage, s, ML_MAP_SPACE_NAME);
    id = ml_dict_add(stage->dict, ML_DEF_SPACE, fields);
    if (stage->dict->unkept != unkept)
        return false;
    s->id = 1 + id;
    return true;
}

void ml_target_take_object(struct ml_stage *stage, struct ml_source *s)
{
    struct ml_target *t = s->target;
    uint32_t number = ml_high(ml_word(s, 1));
    uint32_t domain = ml_high(ml_word(s, 2));
    uint64_t fields[ML_DEF_FIELDS] = {
        [ML_OBJECT_PROCESS] = t->process,
        [ML_OBJECT_KIND] = ml_low(ml_word(s, 1)),
        [ML_OBJECT_DOMAIN] = domain < t->objects.len ? t->objects.items[domain] : 0,
        [ML_OBJECT_NAME] = ml_target_string(t, ml_low(ml_word(s, 2))),
    };

    if (!number || !ml_table_reach(&t->objects, number, OBJECTS_MAX) ||
        !ml_table_reach(&t->counters, number, OBJECTS_MAX))
        return;
    if (!t->objects.items[number]) /* else it is announced again */
        t->objects.items[number] = 1 + ml_dict_add(stage->dict, ML_DEF_OBJECT, fields);
}
