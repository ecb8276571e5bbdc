/* label_tags.c: see label_tags.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "label_tags.h"

#include <string.h>

#include "memledger/memledger.h"
#include "tag_words.h"

#define ENTRY "data_entry:" /* in front of the node, in older traces */
#define NUMBERED "node_"
#define SUM "sum_grad" /* of gradients that are added up */

uint8_t ml_label_tag(const char *label, size_t len)
{
    const char *colon;

    while ((colon = memchr(label, ':', len))) {
        size_t word = (size_t)(colon - label);
        uint8_t category = ml_tag_word_category(label, word);

        if (category != MEMLEDGER_OTHER)
            return category;
        label += word + 1;
        len -= word + 1;
    }
    return MEMLEDGER_OTHER;
}

static bool is_numbered(const char *label)
{
    const char *digit = label + strlen(NUMBERED);

    return !strncmp(label, NUMBERED, strlen(NUMBERED)) && *digit >= '0' && *digit <= '9';
}

static bool is_of_result(uint8_t category)
{
    return category == MEMLEDGER_OTHER || category == MEMLEDGER_ACTIVATION ||
           category == MEMLEDGER_INTERMEDIATE_GRADIENT;
}

bool ml_engine_name_is_empty(const struct ml_trace *trace, uint32_t scope, const char *label,
                             uint8_t category)
{
    if (!is_of_result(category) || strstr(label, ML_MXNET_HEAD_GRADIENT))
        return false;
    if (!strncmp(label, ENTRY, strlen(ENTRY)))
        return is_numbered(label + strlen(ENTRY));
    if (is_numbered(label) || !strcmp(label, SUM))
        return true;
    while (scope != 0) {
        const struct ml_scope *s = ml_trace_scope(trace, scope);

        if (s->kind == MEMLEDGER_SCOPE_OPERATOR)
            return !strcmp(ml_trace_string(trace, s->name, NULL), label);
        scope = s->parent < scope ? s->parent : 0;
    }
    return false;
}
