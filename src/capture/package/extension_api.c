/* extension_api.c: the table that the Python package's extension finds by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "extension_api.h"

#include "api_control.h"
#include "api_report.h"
#include "cuda_labels.h"
#include "given_names.h"
#include "memledger/memledger.h"
#include "names.h"
#include "python_function.h"
#include "record.h"
#include "recorder.h"
#include "torch_nccl.h"
#include "torch_nccl_groups.h"
#include "torch_real.h"
#include "torch_helpers.h"
#include "torch_scopes.h"
#include "torch_spaces.h"
#include "torch_stamps.h"
#include "torch_workspaces.h"
#if ML_WITH_MXNET
#include "mxnet_spaces.h"
#endif

extern const struct ml_extension_api memledger_extension_v1;

static void torch_begin(void)
{
    ml_torch_scopes_begin();
    ml_torch_helpers_begin();
    ml_torch_workspaces_begin();
    ml_torch_nccl_begin();
    if (ml_recorder_in_session() && ml_session->operators)
        ml_torch_operators_begin();
}

/* Without the device's lock. The label follows the allocation: its thread noted the device's stamp
 * before it handed the block over, and processors keep the order of loads. Nor can the block be
 * freed meanwhile, because the caller holds its tensor. Only a free by another thread, within the
 * time for which an instruction waits in the processor (torch_stamps.h), could precede the label;
 * readers then ignore the label of a block that is gone. */
static void label(int cuda_device, const void *ptr, uint32_t name, int category)
{
    int ordinal = cuda_device < 0 ? ML_TORCH_HOST : cuda_device;
    uint32_t space = cuda_device < 0 ? ml_torch_cpu_space() : ml_torch_cuda_space(cuda_device);

    if (space && ptr)
        ml_record_label_at(ml_torch_now_for(ptr, ordinal), space, ptr, (uint32_t)category, name);
}

#if ML_WITH_MXNET
static void mxnet_label(const struct ml_mxnet_block *block, uint32_t name, int category)
{
    uint32_t space = ml_mxnet_space(block->device_type, block->device_id);

    if (space && block->ptr)
        ml_record_label(space, block->ptr, (uint32_t)category, name);
}
#endif

static void step(uint64_t number, const char *name)
{
    ml_api_mark(MEMLEDGER_MARK_STEP, number, name);
}

__attribute__((visibility("default"))) const struct ml_extension_api memledger_extension_v1 = {
    .version = ML_EXTENSION_API_VERSION,
    .struct_bytes = sizeof(struct ml_extension_api),
    .in_session = ml_recorder_in_session,
    .name = ml_name_bytes,
    .thread_name = ml_give_thread_name,
    .process_role = ml_give_process_role,
    .process_place = ml_give_process_place,
    .torch_begin = torch_begin,
    .enter_module = ml_torch_enter_module,
    .leave_module = ml_torch_leave_module,
    .enter_layer = ml_torch_enter_layer,
    .leave_layer = ml_torch_leave_layer,
    .enter_backward_code = ml_torch_enter_backward_code,
    .leave_backward_code = ml_torch_leave_backward_code,
    .is_outermost = ml_torch_is_outermost,
    .note_function = ml_torch_note_function,
    .pass_over = ml_python_pass_over,
    .define_module = ml_torch_define_module,
    .enter_loading = ml_torch_enter_loading,
    .leave_loading = ml_torch_leave_loading,
    .enter_optimizer = ml_torch_enter_optimizer,
    .leave_optimizer = ml_torch_leave_optimizer,
    .torch_function = ml_torch_function,
    .label = label,
    .watch = ml_torch_watch,
    .enter_private = ml_cuda_enter_private,
    .leave_private = ml_cuda_leave_private,
    .name_group = ml_nccl_name_group,
    .step = step,
    .save_trace = ml_control_save,
#if ML_WITH_MXNET
    .enter_phase = ml_mxnet_enter_phase,
    .leave_phase = ml_mxnet_leave_phase,
    .mxnet_blocks = ml_mxnet_array_blocks,
    .mxnet_label = mxnet_label,
#endif
};
