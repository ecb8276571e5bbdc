/* mxnet_layout.h: identifies the build of MXNet, and has the offsets into its structures.
 *
 * Nothing of MXNet is touched before its build is identified by the linker's build-id: the offsets
 * and the arguments of functions were determined for that very library. Another build of the same
 * version may have other options, and therefore other structures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_LAYOUT_H
#define ML_MXNET_LAYOUT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ML_MXNET_LIBRARY "libmxnet.so"

/* The functions of mxnet::StorageImpl and the engines that are recorded. */
enum ml_mxnet_function {
    ML_MXNET_ALLOC,
    ML_MXNET_FREE,
    ML_MXNET_DIRECT_FREE,
    ML_MXNET_EXECUTE,    /* ThreadedEngine::ExecuteOprBlock */
    ML_MXNET_NAIVE_PUSH, /* NaiveEngine::PushAsync */
    ML_MXNET_FUNCTIONS,
};

#define ML_MXNET_BUILDS_MAX 5

struct ml_mxnet_layout {
    int version;                             /* 10901: 1.9.1 */
    const char *builds[ML_MXNET_BUILDS_MAX]; /* build-ids that it is valid for; NULL: no more */
    const char *symbols[ML_MXNET_FUNCTIONS];
    const char *storage_vtable;
    uint32_t operator_at;      /* in the block that the engine executes */
    uint32_t operator_name_at; /* in the operator: a std::string */
    /* The offset of the node in FCompute-, FComputeEx-, StatefulCompute- and
     * StatefulComputeExExecutor; 0: it has none. */
    uint32_t executor_node_at[4];
    uint32_t array_bytes;      /* of an mxnet::NDArray */
    uint32_t autograd_node_at; /* in it: a pointer */
    uint32_t storage_type_at;  /* in its chunk */
    uint32_t handle_bytes;     /* of a Storage::Handle in an array's chunk */
};

/* mxnet::Storage::Handle. In 2.0 two names follow. */
struct ml_mxnet_handle {
    void *ptr; /* NULL: no memory yet */
    size_t bytes;
    int32_t device_type;
    int32_t device_id;
    int32_t shared_pid;
    int32_t shared_id;
};
static_assert(sizeof(struct ml_mxnet_handle) == 32, "MXNet's layout");

/* The beginning of a std::vector. */
struct ml_mxnet_vector {
    const char *begin, *end;
};

/* mxnet::RunContext, which is passed by value. */
struct ml_mxnet_run_context {
    uint64_t words[4];
};

#define ML_MXNET_PER_DEVICE_VTABLE "_ZTVN5mxnet6engine23ThreadedEnginePerDeviceE"
#define ML_MXNET_POOLED_VTABLE "_ZTVN5mxnet6engine20ThreadedEnginePooledE"
#define ML_MXNET_NAIVE_VTABLE "_ZTVN5mxnet6engine11NaiveEngineE"

/* The offset of the first virtual function from the symbol of a C++ class's table, and the indices
 * of Storage's functions, in words. */
#define ML_VTABLE_HEAD 2
enum { ML_STORAGE_ALLOC = 0, ML_STORAGE_FREE = 2, ML_STORAGE_DIRECT_FREE = 3 };

/* Examines a loaded library with reads that cannot fault. Takes the loader's lock.
 * @ret_reals  its functions
 * @return NULL: the build is unknown */
const struct ml_mxnet_layout *ml_mxnet_recognise(void *library,
                                                 void *ret_reals[ML_MXNET_FUNCTIONS]);

/* The version that the library reports; 0: none. */
int ml_mxnet_version(void *library);

/* Identifies the loaded library and puts the hooks in place, unless that was done before; see
 * mxnet_begin.c. Keeps errno. @return false: the build is unknown, or nothing is recorded */
bool ml_mxnet_identify(void);

/* The same, even if nothing is recorded yet. Precondition: the library is loaded. */
bool ml_mxnet_begin_now(void);

#endif
