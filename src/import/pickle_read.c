/* pickle_read.c: access to a pickle's values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "pickle_machine.h"

bool ml_pickle_int(const struct ml_pickle_machine *m, ml_pickle_value value, int64_t *ret)
{
    switch (ml_pickle_tag(value)) {
    case ML_PICKLE_BOOL: *ret = (int64_t)ml_pickle_index(value); return true;
    case ML_PICKLE_INT: *ret = (int64_t)value >> ML_PICKLE_TAG_BITS; return true;
    case ML_PICKLE_WIDE: *ret = (int64_t)m->numbers.items[ml_pickle_index(value)]; return true;
    default: return false;
    }
}

struct ml_pickle_node *ml_pickle_node(const struct ml_pickle_machine *m, ml_pickle_value value)
{
    if (ml_pickle_tag(value) != ML_PICKLE_NODE)
        return NULL;
    return &m->nodes.items[ml_pickle_index(value)];
}

const char *ml_pickle_chars(const struct ml_pickle_machine *m, ml_pickle_value value,
                            size_t *ret_len)
{
    if (ml_pickle_tag(value) != ML_PICKLE_TEXT)
        return NULL;
    return ml_intern_get(&m->texts, (uint32_t)ml_pickle_index(value), ret_len);
}

bool ml_pickle_find(const struct ml_pickle_machine *m, const struct ml_pickle_node *dict,
                    const char *key, ml_pickle_value *ret)
{
    int64_t text = ml_intern_find(&m->texts, key, strlen(key));

    if (!dict || dict->kind != ML_PICKLE_DICT || text < 0)
        return false;
    /* Of several equal keys the last one counts. */
    for (uint32_t i = dict->len; i >= 2; i -= 2)
        if (dict->items[i - 2] == ml_pickle_make(ML_PICKLE_TEXT, (uint64_t)text)) {
            *ret = dict->items[i - 1];
            return true;
        }
    return false;
}
