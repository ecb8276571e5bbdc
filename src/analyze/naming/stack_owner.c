/* stack_owner.c: see stack_owner.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stack_owner.h"

#include <stdbool.h>
#include <string.h>

#include "compiler.h"
#include "defs.h"
#include "text.h"

#define DRIVER "CUDA driver"
#define DELETED " (deleted)" /* suffix that the kernel adds to the path of a program */

enum part {
    BASE_NAME,
    PATH
}; /* whether the text starts the base name or is anywhere in the path */

struct owner {
    enum part part;
    const char *text;
    const char *name;
    bool passes_on; /* its caller made the request */
};

/* The first match wins. Base names come before paths: a library in a framework's folder still has
 * its own name. */
static const struct owner owners[] = {
    {BASE_NAME, "libcuda.so", DRIVER, true},
    {BASE_NAME, "libnvidia-", DRIVER, true},
    {BASE_NAME, "libcudart", "CUDA runtime", true},
    {BASE_NAME, "libmemledger", "memledger", true},
    {BASE_NAME, "libc.so.", "libc", true},
    {BASE_NAME, "libpthread.so.", "libc", true},
    {BASE_NAME, "ld-linux-", "libc", true},
    {BASE_NAME, "libffi.so.", "libffi", true},
    {BASE_NAME, "_ctypes.", "ctypes", true},
    {BASE_NAME, "libcublas", "cuBLAS", false},
    {BASE_NAME, "libnvblas", "cuBLAS", false},
    {BASE_NAME, "libcudnn", "cuDNN", false},
    {BASE_NAME, "libcufft", "cuFFT", false},
    {BASE_NAME, "libcusolver", "cuSOLVER", false},
    {BASE_NAME, "libcusparse", "cuSPARSE", false},
    {BASE_NAME, "libcurand", "cuRAND", false},
    {BASE_NAME, "libcutensor", "cuTENSOR", false},
    {BASE_NAME, "libcufile", "cuFile", false},
    {BASE_NAME, "libnccl", "NCCL", false},
    {BASE_NAME, "libnvshmem", "NVSHMEM", false},
    {BASE_NAME, "libnvrtc", "NVRTC", false},
    {BASE_NAME, "libnvJitLink", "nvJitLink", false},
    {BASE_NAME, "libnvinfer", "TensorRT", false},
    {BASE_NAME, "libcaffe2_nvrtc", "PyTorch", false},
    {BASE_NAME, "libtorch", "PyTorch", false},
    {BASE_NAME, "libc10", "PyTorch", false},
    {BASE_NAME, "libtriton", "Triton", false},
    {BASE_NAME, "libmxnet", "MXNet", false},
    {BASE_NAME, "libtensorflow", "TensorFlow", false},
    {BASE_NAME, "libonnxruntime", "ONNX Runtime", false},
    {BASE_NAME, "libjax", "JAX/XLA", false},
    {BASE_NAME, "xla_cuda_plugin", "JAX/XLA", false},
    {BASE_NAME, "pjrt_", "JAX/XLA", false},
    {PATH, "-packages/jaxlib/", "JAX/XLA", false},
    {PATH, "-packages/jax_plugins/", "JAX/XLA", false},
    {PATH, "-packages/cupy/", "CuPy", false},
    {PATH, "-packages/cupyx/", "CuPy", false},
    {PATH, "-packages/cupy_backends/", "CuPy", false},
    {PATH, "-packages/triton/", "Triton", false},
    {PATH, "/.triton/", "Triton", false}, /* launchers that it compiles */
    {PATH, "-packages/torch/", "PyTorch", false},
};

static const struct owner *find(const char *path)
{
    const char *base = ml_base_name(path);

    for (size_t i = 0; i < ML_ARRAY_SIZE(owners); i++) {
        const struct owner *o = &owners[i];

        if (o->part == BASE_NAME ? !strncmp(base, o->text, strlen(o->text))
                                 : strstr(path, o->text) != NULL)
            return o;
    }
    return NULL;
}

static const char *path_of(const struct ml_trace *trace, uint32_t library)
{
    return ml_trace_string(trace, ml_trace_library(trace, library)->path, NULL);
}

/* The library of a stack's innermost frame, -1 if unknown. */
static int64_t library_of(const struct ml_trace *trace, uint32_t stack)
{
    const struct ml_frame *frame = ml_trace_frame(trace, ml_trace_stack(trace, stack)->frame);
    bool known = frame->kind == ML_FRAME_NATIVE && frame->library < ml_trace_libraries(trace);

    return known ? frame->library : -1;
}

/* Functions of C++ and Rust that only pass a request for memory on. */
static bool is_allocator(const struct ml_trace *trace, const struct ml_frame *frame)
{
    static const char *const names[] = {"operator new",
                                        "_Znw",
                                        "_Zna",
                                        "std::__new_allocator<",
                                        "__gnu_cxx::new_allocator<",
                                        "std::allocator<",
                                        "std::allocator_traits<",
                                        "alloc::alloc::",
                                        "<alloc::alloc::Global",
                                        "__rust_alloc",
                                        "__rustc::__rust_alloc"};
    const char *function = ml_trace_string(trace, frame->function, NULL);

    for (size_t i = 0; frame->function && i < ML_ARRAY_SIZE(names); i++)
        if (!strncmp(function, names[i], strlen(names[i])))
            return true;
    return false;
}

static bool asks(const struct ml_trace *trace, uint32_t stack)
{
    int64_t library = library_of(trace, stack);
    const struct owner *owner = library < 0 ? NULL : find(path_of(trace, (uint32_t)library));

    return library >= 0 && !(owner && owner->passes_on) &&
           !is_allocator(trace, ml_trace_frame(trace, ml_trace_stack(trace, stack)->frame));
}

uint32_t ml_stack_asker(const struct ml_trace *trace, uint32_t stack)
{
    while (stack && !asks(trace, stack))
        stack = ml_trace_stack(trace, stack)->caller;
    return stack;
}

const char *ml_library_owner(const struct ml_trace *trace, uint32_t library, char *buf, size_t room)
{
    const char *path = path_of(trace, library);
    const struct owner *owner = find(path);
    const char *base = ml_base_name(path);
    size_t len = strlen(base);
    size_t suffix = strlen(DELETED);

    if (owner)
        return owner->name;
    if (!len)
        return "unknown";
    if (len <= suffix || strcmp(base + len - suffix, DELETED) != 0)
        return base;
    len -= suffix;
    if (!room)
        return base;
    len = len < room ? len : room - 1;
    memcpy(buf, base, len);
    buf[len] = '\0';
    return buf;
}

static bool passes_driver(const struct ml_trace *trace, uint32_t stack)
{
    for (; stack; stack = ml_trace_stack(trace, stack)->caller) {
        int64_t library = library_of(trace, stack);
        const struct owner *owner = library < 0 ? NULL : find(path_of(trace, (uint32_t)library));

        if (owner && !strcmp(owner->name, DRIVER))
            return true;
    }
    return false;
}

const char *ml_stack_owner(const struct ml_trace *trace, uint32_t stack, char *buf, size_t room)
{
    uint32_t asker = ml_stack_asker(trace, stack);

    if (asker)
        return ml_library_owner(trace, (uint32_t)library_of(trace, asker), buf, room);
    return passes_driver(trace, stack) ? DRIVER : "unknown";
}

bool ml_stack_owner_is_known(const struct ml_trace *trace, uint32_t stack)
{
    uint32_t asker = ml_stack_asker(trace, stack);

    return asker && find(path_of(trace, (uint32_t)library_of(trace, asker)));
}
