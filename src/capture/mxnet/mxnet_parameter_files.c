/* mxnet_parameter_files.c: names the arrays that MXNet reads from a file of parameters.
 *
 * A program usually copies them to the arrays that it binds, so that each parameter exists twice
 * for a while, at what may be the peak. A model's file calls them "arg:fc1_weight" and
 * "aux:bn1_moving_mean". Other names may be anything, so those arrays stay without one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <string.h>

#include "mxnet_argument_names.h"
#include "mxnet_features.h"
#include "recorder.h"

typedef void load_function(void *stream, struct ml_mxnet_vector *ret_arrays,
                           struct ml_mxnet_vector *ret_names);

static load_function *real_load;
static uint32_t array_bytes;

/* @text  the name of an array in the file */
static void name_loaded(const void *array, const char *text)
{
    static const char argument[] = "arg:", state[] = "aux:";

    if (!strncmp(text, argument, strlen(argument)))
        ml_mxnet_name_array(array, MEMLEDGER_PARAMETER, text + strlen(argument));
    else if (!strncmp(text, state, strlen(state)))
        ml_mxnet_name_array(array, MEMLEDGER_BUFFER, text + strlen(state));
}

/* A file may have no names; MXNet checks that it has one for each array otherwise. A std::string is
 * a pointer to its text, see mxnet_argument_names.c. */
static void load(void *stream, struct ml_mxnet_vector *ret_arrays,
                 struct ml_mxnet_vector *ret_names)
{
    const char *array, *name;

    real_load(stream, ret_arrays, ret_names);
    if (!ml_recorder_in_session())
        return;
    array = ret_arrays->begin;
    for (name = ret_names->begin; name < ret_names->end && array < ret_arrays->end;
         name += sizeof(char *), array += array_bytes)
        name_loaded(array, *(const char *const *)(const void *)name);
}

#define LOAD "_ZN5mxnet7NDArray4LoadEPN4dmlc6StreamEPSt6vectorIS0_SaIS0_EEPS4_ISsSaISsEE"

const struct ml_mxnet_feature *
ml_mxnet_parameter_files_feature(const struct ml_mxnet_layout *layout)
{
    static const struct ml_mxnet_feature feature = {
        .exchanges = {{NULL, LOAD, (void *)load, (void **)&real_load}},
    };

    array_bytes = layout->array_bytes;
    return &feature;
}
