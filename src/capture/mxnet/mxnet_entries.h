/* mxnet_entries.h: the functions of MXNet that have a hook by name. The linker scripts are
 * generated from these lists too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_ENTRIES_H
#define ML_MXNET_ENTRIES_H

/* Those that detect MXNet, with the type of each. */
#define ML_MXNET_ENTRIES(ENTRY)                                                                    \
    ENTRY(_ZN5mxnet6Engine3GetEv, get_engine, get_function)                                        \
    ENTRY(_ZN5mxnet7Storage3GetEv, get_storage, get_function)

/* Each function of MXNet's C API begins and ends with a call of these. */
#define ML_MXNET_CALL_ENTRIES(ENTRY)                                                               \
    ENTRY(enter_call, _ZN5mxnet12on_enter_apiEPKc)                                                 \
    ENTRY(exit_call, _ZN5mxnet11on_exit_apiEv)

/* The C functions of its profiler, likewise. Those for one process only call those
 * that take a kvstore, so the latter have the hooks. */
#define ML_MXNET_PROFILER_ENTRIES(ENTRY)                                                           \
    ENTRY(MXSetProcessProfilerConfig, set_config, config_function)                                 \
    ENTRY(MXSetProcessProfilerState, set_state, control_function)                                  \
    ENTRY(MXProcessProfilePause, set_paused, control_function)                                     \
    ENTRY(MXProfileCreateDomain, create_domain, create_function)                                   \
    ENTRY(MXProfileCreateTask, create_task, create_in_function)                                    \
    ENTRY(MXProfileCreateFrame, create_frame, create_in_function)                                  \
    ENTRY(MXProfileCreateEvent, create_event, create_function)                                     \
    ENTRY(MXProfileCreateCounter, create_counter, create_in_function)                              \
    ENTRY(MXProfileDestroyHandle, destroy_handle, handle_function)                                 \
    ENTRY(MXProfileDurationStart, start_duration, handle_function)                                 \
    ENTRY(MXProfileDurationStop, stop_duration, handle_function)                                   \
    ENTRY(MXProfileSetCounter, set_counter, set_counter_function)                                  \
    ENTRY(MXProfileAdjustCounter, adjust_counter, adjust_counter_function)                         \
    ENTRY(MXProfileSetMarker, set_marker, marker_function)

/* The C functions that make arrays and bind them to a symbol, likewise. */
#define ML_MXNET_BIND_ENTRIES(ENTRY)                                                               \
    ENTRY(MXExecutorSimpleBind, simple_bind, simple_bind_function)                                 \
    ENTRY(MXExecutorSimpleBindEx, simple_bind_ex, simple_bind_function)                            \
    ENTRY(MXExecutorSimpleBindEx64, simple_bind_64, simple_bind_function)

/* Those of CachedOps, likewise. */
#define ML_MXNET_CACHED_ENTRIES(ENTRY)                                                             \
    ENTRY(MXCreateCachedOp, create_cached, create_cached_function)                                 \
    ENTRY(MXCreateCachedOpEx, create_cached_ex, create_cached_function)                            \
    ENTRY(MXCreateCachedOpEX, create_cached_safe, create_cached_function)                          \
    ENTRY(MXInvokeCachedOp, invoke_cached, invoke_cached_function)                                 \
    ENTRY(MXFreeCachedOp, free_cached, free_cached_function)

#endif
