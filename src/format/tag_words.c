/* tag_words.c: see tag_words.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tag_words.h"

#include <string.h>

#include "compiler.h"
#include "memledger/memledger.h"

static const struct {
    const char *word;
    uint8_t category;
} words[] = {
    {"head_grad", MEMLEDGER_INTERMEDIATE_GRADIENT},
    {"arg_grad", MEMLEDGER_GRADIENT},
    {"aux_state", MEMLEDGER_BUFFER},
    {"optimizer_state", MEMLEDGER_OPTIMIZER_STATE},
    {"data_entry", MEMLEDGER_ACTIVATION},
    {"forward_features", MEMLEDGER_ACTIVATION},
    {"workspace", MEMLEDGER_TEMPORARY},
    {"resource", MEMLEDGER_TEMPORARY},
};

uint8_t ml_tag_word_category(const char *word, size_t len)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(words); i++)
        if (strlen(words[i].word) == len && memcmp(words[i].word, word, len) == 0)
            return words[i].category;
    return MEMLEDGER_OTHER;
}
