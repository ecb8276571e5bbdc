/* mxnet_argument_names.c: see mxnet_argument_names.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_argument_names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mxnet_arrays.h"
#include "mxnet_dlsym.h"
#include "mxnet_outputs.h"
#include "mxnet_spaces.h"
#include "names.h"
#include "record.h"

/* ---- Names ---------------------------------------------------------------------- */

/* Both known versions have strings of one word, a pointer to the text. The destructor of a vector
 * of those exists only in such builds. */
#define LIST "_ZNK4nnvm6Symbol14ListInputNamesENS0_15ListInputOptionE"
#define RELEASE "_ZNSt6vectorISsSaISsEED1Ev"

typedef void *list_function(void *ret_vector, const void *symbol, int option);
typedef void release_function(void *vector);

static void *list_known, *release_known; /* see ml_mxnet_function */

void ml_mxnet_names_of(const void *symbol, enum ml_mxnet_inputs which, struct ml_mxnet_names *ret)
{
    list_function *list = (list_function *)ml_mxnet_function(&list_known, LIST);

    *ret = (struct ml_mxnet_names){0};
    if (!list || !ml_mxnet_function(&release_known, RELEASE))
        return;
    list(ret->vector, symbol, which);
    ret->items = ret->vector[0];
    ret->count = (size_t)((const char *const *)ret->vector[1] - ret->items);
}

void ml_mxnet_names_release(struct ml_mxnet_names *names)
{
    if (names->items)
        ((release_function *)ml_mxnet_function(&release_known, RELEASE))(names->vector);
}

bool ml_mxnet_is_input_name(const char *name)
{
    static const char *const ends[] = {"data", "label"};
    size_t bytes = strlen(name);

    while (bytes && name[bytes - 1] >= '0' && name[bytes - 1] <= '9')
        bytes--;
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        size_t end = strlen(ends[i]);
        if (bytes >= end && !memcmp(name + bytes - end, ends[i], end))
            return true;
    }
    return false;
}

/* ---- Arrays --------------------------------------------------------------------- */

static uint32_t label_of(const char *name, const char *end)
{
    char text[ML_NAME_MAX_BYTES];

    snprintf(text, sizeof(text), "%s%s", name, end);
    return ml_name(text);
}

static void name_block(const struct ml_mxnet_block *block, enum memledger_category category,
                       uint32_t label)
{
    uint32_t in = ml_mxnet_space(block->device_type, block->device_id);

    if (in)
        ml_record_label(in, block->ptr, category, label);
}

void ml_mxnet_name_array(const void *array, enum memledger_category category, const char *name)
{
    struct ml_mxnet_block blocks[ML_MXNET_PARTS_MAX];
    unsigned parts = ml_mxnet_array_blocks(array, blocks);

    for (unsigned i = 0; i < parts; i++) {
        if (blocks[i].ptr)
            name_block(&blocks[i], category, label_of(name, ml_mxnet_part_suffix(i, parts)));
    }
    if (parts && !blocks[0].ptr)
        ml_mxnet_expect_array(array, category, label_of(name, ""));
}
