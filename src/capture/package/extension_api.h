/* extension_api.h: the functions of the recorder that the Python package's extension calls. Not
 * public: both are built from the same source, and the version says so.
 *
 * All functions require that the calling thread holds Python's lock. They fail silently and keep no
 * pointer that they are given.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXTENSION_API_H
#define ML_EXTENSION_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mxnet_arrays.h"
#include "mxnet_scopes.h"
#include "torch_watch.h"

#define ML_EXTENSION_API_VERSION 12
#define ML_EXTENSION_API_NAME "memledger_extension_v1"

struct ml_extension_api {
    uint32_t version;
    uint32_t struct_bytes;
    bool (*in_session)(void);
    uint32_t (*name)(const char *text, size_t bytes);
    /* See given_names.h. */
    void (*thread_name)(const char *text);
    void (*process_role)(const char *text);
    void (*process_place)(const char *text);
    /* See torch_scopes.h. */
    void (*torch_begin)(void);
    void (*enter_module)(uint32_t name, uint32_t class_name);
    void (*leave_module)(void);
    void (*enter_layer)(uint32_t name, uint32_t class_name, bool is_relative);
    void (*leave_layer)(void);
    void (*enter_backward_code)(void);
    void (*leave_backward_code)(void);
    bool (*is_outermost)(void);
    void (*note_function)(void);
    /* See python_function.h. */
    void (*pass_over)(const char *folder, size_t bytes);
    void (*define_module)(uint32_t root, uint32_t root_class, uint32_t name, uint32_t class_name);
    void (*enter_loading)(void);
    void (*leave_loading)(void);
    void (*enter_optimizer)(uint32_t class_name);
    void (*leave_optimizer)(void);
    /* See torch_real.h. */
    void *(*torch_function)(const char *symbol);
    /* Names a block of PyTorch; cuda_device is -1 for the host. */
    void (*label)(int cuda_device, const void *ptr, uint32_t name, int category);
    /* See torch_watch.h. */
    struct ml_torch_watch *(*watch)(struct ml_torch_watch *watch);
    /* See cuda_labels.h. */
    void (*enter_private)(uint32_t label);
    void (*leave_private)(void);
    /* See torch_nccl_groups.h. */
    void (*name_group)(const void *config, const char *name, int rank, int ranks);
    /* The name is ML_STEP_AUTOMATIC, ML_STEP_EVALUATION, or "" for a step of the program. */
    void (*step)(uint64_t number, const char *name);
    /* See api_control.h. Needs no lock of Python's. */
    int (*save_trace)(uint64_t patience_ns, const char **ret_path);
    /* See mxnet_scopes.h and mxnet_arrays.h. NULL in a build without MXNet, whose package has no
     * module that calls them. */
    void (*enter_phase)(enum ml_phase phase);
    void (*leave_phase)(void);
    unsigned (*mxnet_blocks)(const void *array, struct ml_mxnet_block *ret);
    void (*mxnet_label)(const struct ml_mxnet_block *block, uint32_t name, int category);
};

#endif
