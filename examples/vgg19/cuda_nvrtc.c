/* cuda_nvrtc.c: compiles with NVRTC, NVIDIA's run-time compiler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_compile.h"
#include "cuda_library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

typedef int nvrtc_result;
typedef void *nvrtc_program;

#define NVRTC_ENTRIES(X)                                                                           \
    X(nvrtcCreateProgram, (nvrtc_program * ret, const char *text, const char *name, int headers,   \
                           const char *const *header_texts, const char *const *header_names))      \
    X(nvrtcDestroyProgram, (nvrtc_program * program))                                              \
    X(nvrtcCompileProgram, (nvrtc_program program, int count, const char *const *options))         \
    X(nvrtcGetProgramLogSize, (nvrtc_program program, size_t * ret))                               \
    X(nvrtcGetProgramLog, (nvrtc_program program, char *ret))                                      \
    X(nvrtcGetCUBINSize, (nvrtc_program program, size_t * ret))                                    \
    X(nvrtcGetCUBIN, (nvrtc_program program, char *ret))                                           \
    X(nvrtcGetPTXSize, (nvrtc_program program, size_t * ret))                                      \
    X(nvrtcGetPTX, (nvrtc_program program, char *ret))                                             \
    X(nvrtcGetNumSupportedArchs, (int *ret))                                                       \
    X(nvrtcGetSupportedArchs, (int *ret))

struct nvrtc {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define X(name, parameters) nvrtc_result(*name) parameters;
    NVRTC_ENTRIES(X)
#undef X
};

static int load(struct nvrtc *ret, const char *folder)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                        NULL};
    const struct cuda_symbol symbols[] = {
#define X(name, parameters) {#name, (void **)&ret->name},
        NVRTC_ENTRIES(X)
#undef X
    };
    void *library = cuda_library_open(names, folder);

    if (!library)
        return -ENOENT;
    return cuda_library_symbols(library, "NVRTC", symbols, sizeof(symbols) / sizeof(symbols[0]));
}

/* The best target not above the GPU's capability; 0 when all are. */
static int best_target(const struct nvrtc *nvrtc, int capability)
{
    enum { MAX_TARGETS = 256 };
    int targets[MAX_TARGETS];
    int count = 0, best = 0;

    if (nvrtc->nvrtcGetNumSupportedArchs(&count) || count > MAX_TARGETS ||
        nvrtc->nvrtcGetSupportedArchs(targets))
        return capability;
    for (int i = 0; i < count; i++)
        if (targets[i] <= capability && targets[i] > best)
            best = targets[i];
    return best;
}

static void print_log(const struct nvrtc *nvrtc, nvrtc_program program)
{
    size_t bytes = 0;
    char *log;

    if (nvrtc->nvrtcGetProgramLogSize(program, &bytes) || !bytes)
        return;
    log = malloc(bytes);
    if (log && !nvrtc->nvrtcGetProgramLog(program, log))
        fprintf(stderr, "%s\n", log);
    free(log);
}

/* Code for the GPU itself, or PTX, which the driver translates for a GPU that
 * is newer than the compiler. */
static int take_result(const struct nvrtc *nvrtc, nvrtc_program program, int exact, void **ret)
{
    size_t bytes = 0;
    char *image;
    int failed =
        exact ? nvrtc->nvrtcGetCUBINSize(program, &bytes) : nvrtc->nvrtcGetPTXSize(program, &bytes);

    image = failed ? NULL : malloc(bytes);
    if (!image)
        return -ENODEV;
    failed = exact ? nvrtc->nvrtcGetCUBIN(program, image) : nvrtc->nvrtcGetPTX(program, image);
    if (failed) {
        free(image);
        return -ENODEV;
    }
    *ret = image;
    return 0;
}

static int compile(const struct nvrtc *nvrtc, nvrtc_program program, int capability, void **ret)
{
    int target = best_target(nvrtc, capability);
    int exact = target == capability;
    char option[64];
    const char *options[] = {option};

    if (!target) {
        fprintf(stderr,
                "vgg19: this NVRTC compiles for no GPU as old as compute capability %d.%d; name "
                "the folder of an older one with --cuda-libs\n",
                capability / 10, capability % 10);
        return -ENODEV;
    }
    snprintf(option, sizeof(option), "--gpu-architecture=%s_%d", exact ? "sm" : "compute", target);
    if (nvrtc->nvrtcCompileProgram(program, 1, options)) {
        fprintf(stderr, "vgg19: NVRTC does not compile the kernels with %s\n", option);
        print_log(nvrtc, program);
        return -ENODEV;
    }
    return take_result(nvrtc, program, exact, ret);
}

int cuda_compile_nvrtc(const char *text, int capability, const char *folder, void **ret)
{
    nvrtc_program program = NULL;
    struct nvrtc nvrtc;
    int rc = load(&nvrtc, folder);

    if (rc)
        return rc;
    if (nvrtc.nvrtcCreateProgram(&program, text, "vgg19_kernels.cu", 0, NULL, NULL)) {
        fputs("vgg19: NVRTC does not start\n", stderr);
        return -ENODEV;
    }
    rc = compile(&nvrtc, program, capability, ret);
    nvrtc.nvrtcDestroyProgram(&program);
    return rc;
}
