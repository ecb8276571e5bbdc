/* label_tags.c: see label_tags.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "label_tags.h"

#include <string.h>

#include "compiler.h"
#include "memledger/memledger.h"

static const struct {
    const char *word;
    uint8_t category;
} tags[] = {
    {"head_grad", MEMLEDGER_INTERMEDIATE_GRADIENT},
    {"arg_grad", MEMLEDGER_GRADIENT},
    {"aux_state", MEMLEDGER_BUFFER},
    {"optimizer_state", MEMLEDGER_OPTIMIZER_STATE},
    {"data_entry", MEMLEDGER_ACTIVATION},
    {"workspace", MEMLEDGER_TEMPORARY},
    {"resource", MEMLEDGER_TEMPORARY},
};

static uint8_t tag_of(const char *word, size_t len)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(tags); i++)
        if (strlen(tags[i].word) == len && memcmp(tags[i].word, word, len) == 0)
            return tags[i].category;
    return MEMLEDGER_OTHER;
}

uint8_t ml_label_tag(const char *label, size_t len)
{
    const char *colon;

    while ((colon = memchr(label, ':', len))) {
        size_t word = (size_t)(colon - label);
        uint8_t category = tag_of(label, word);

        if (category != MEMLEDGER_OTHER)
            return category;
        label += word + 1;
        len -= word + 1;
    }
    return MEMLEDGER_OTHER;
}
