/* standin_code.c: modules, libraries, functions and kernels. Nothing is ever run;
 * code costs memory in a context from its first launch there on, or from its
 * loading on with CUDA_MODULE_LOADING=EAGER: as much as its image is long, in pages
 * of 2 MiB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"
#include "standin_images.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum loading_mode { EAGER = 1, LAZY = 2 };

struct code {
    struct code *next;
    uint64_t bytes;
    char *kernels;                                          /* NULL: any that is asked for */
    struct standin_context *loaded_in[STANDIN_DEVICES_MAX]; /* where it costs memory */
    struct standin_function *functions;
};

/* A function of a module or a kernel of a library. */
struct standin_function {
    struct standin_function *next;
    struct code *code;
    char name[];
};

static struct code *codes;

static enum loading_mode loading_mode(void)
{
    const char *mode = getenv("CUDA_MODULE_LOADING");
    return mode && strcmp(mode, "EAGER") == 0 ? EAGER : LAZY;
}

/* ---- What it costs ------------------------------------------------------------------ */

static int load(struct code *code, struct standin_context *context)
{
    if (code->loaded_in[context->ordinal])
        return CUDA_SUCCESS;
    int status = standin_take(context->ordinal, code->bytes);
    if (status)
        return status;
    context->taken_bytes += code->bytes;
    code->loaded_in[context->ordinal] = context;
    return CUDA_SUCCESS;
}

static void unload(struct code *code)
{
    for (int i = 0; i < STANDIN_DEVICES_MAX; i++) {
        if (!code->loaded_in[i])
            continue;
        code->loaded_in[i]->taken_bytes -= code->bytes;
        standin_give(i, code->bytes);
        code->loaded_in[i] = NULL;
    }
}

int standin_function_load(struct standin_function *function, struct standin_context *context)
{
    return load(function->code, context);
}

/* The context gives the memory back itself. */
void standin_code_context_end(struct standin_context *context)
{
    for (struct code *code = codes; code; code = code->next) {
        if (code->loaded_in[context->ordinal] == context)
            code->loaded_in[context->ordinal] = NULL;
    }
}

/* ---- Coming and going ------------------------------------------------------------------ */

/* `context`: where to load it if all is loaded at once; NULL: nowhere. */
static int new_code(const void *image, struct standin_context *context, struct code **ret_code)
{
    if (!image || !ret_code)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t bytes = standin_image_bytes(image);
    if (!bytes)
        return CUDA_ERROR_INVALID_IMAGE;
    struct code *code = calloc(1, sizeof *code);
    if (!code)
        abort();
    code->bytes = standin_round_up(bytes, STANDIN_PAGE_BYTES);
    int status = context && loading_mode() == EAGER ? load(code, context) : CUDA_SUCCESS;
    if (status) {
        free(code);
        return status;
    }
    code->kernels = standin_image_kernels(image);
    code->next = codes;
    codes = code;
    *ret_code = code;
    return CUDA_SUCCESS;
}

static int end_code(struct code *code)
{
    int status = standin_lock();
    if (status)
        return status;
    struct code **link = &codes;
    while (*link && *link != code)
        link = &(*link)->next;
    if (!*link)
        return standin_unlock(CUDA_ERROR_INVALID_HANDLE);
    *link = code->next;
    unload(code);
    while (code->functions) {
        struct standin_function *function = code->functions;
        code->functions = function->next;
        free(function);
    }
    free(code->kernels);
    free(code);
    return standin_unlock(CUDA_SUCCESS);
}

/* A whole file with a 0 behind it; NULL when it cannot be read. */
static void *read_file(const char *path, size_t *ret_bytes)
{
    struct stat found;
    void *at = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &found) == 0 && found.st_size > 0) {
        *ret_bytes = (size_t)found.st_size + 1;
        at = mmap(NULL, *ret_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at != MAP_FAILED && read(fd, at, (size_t)found.st_size) != found.st_size) {
            munmap(at, *ret_bytes);
            at = MAP_FAILED;
        }
    }
    if (fd >= 0)
        close(fd);
    return at == MAP_FAILED ? NULL : at;
}

STANDIN_ENTRY(cuModuleLoadData, struct code **ret_module, const void *image)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    return standin_unlock(new_code(image, context, ret_module));
}

STANDIN_ENTRY(cuModuleLoad, struct code **ret_module, const char *path)
{
    size_t bytes;
    void *image = read_file(path, &bytes);
    if (!image)
        return CUDA_ERROR_FILE_NOT_FOUND;
    int status = cuModuleLoadData(ret_module, image);
    munmap(image, bytes);
    return status;
}

STANDIN_ENTRY(cuModuleUnload, struct code *module)
{
    return end_code(module);
}

/* Needs no context. Options follow in the real one's arguments. */
STANDIN_ENTRY(cuLibraryLoadData, struct code **ret_library, const void *image)
{
    int status = standin_lock();
    if (status)
        return status;
    return standin_unlock(new_code(image, NULL, ret_library));
}

STANDIN_ENTRY(cuLibraryLoadFromFile, struct code **ret_library, const char *path)
{
    size_t bytes;
    void *image = read_file(path, &bytes);
    if (!image)
        return CUDA_ERROR_FILE_NOT_FOUND;
    int status = cuLibraryLoadData(ret_library, image);
    munmap(image, bytes);
    return status;
}

STANDIN_ENTRY(cuLibraryUnload, struct code *library)
{
    return end_code(library);
}

STANDIN_ENTRY(cuModuleGetLoadingMode, int *ret_mode)
{
    *ret_mode = (int)loading_mode();
    return CUDA_SUCCESS;
}

/* ---- Functions -------------------------------------------------------------------------- */

static bool holds(const struct code *code, const char *name)
{
    char word[256];
    int len = snprintf(word, sizeof word, " %s ", name);
    return !code->kernels || (len < (int)sizeof word && strstr(code->kernels, word));
}

static struct standin_function *find_or_add(struct code *code, const char *name)
{
    struct standin_function *function = code->functions;
    while (function && strcmp(function->name, name) != 0)
        function = function->next;
    if (function)
        return function;
    function = calloc(1, sizeof *function + strlen(name) + 1);
    if (!function)
        abort();
    strcpy(function->name, name);
    function->code = code;
    function->next = code->functions;
    code->functions = function;
    return function;
}

STANDIN_ENTRY(cuModuleGetFunction, struct standin_function **ret_function, struct code *module,
              const char *name)
{
    int status = standin_lock();
    if (status)
        return status;
    if (holds(module, name))
        *ret_function = find_or_add(module, name);
    else
        status = CUDA_ERROR_NOT_FOUND;
    return standin_unlock(status);
}

STANDIN_ENTRY(cuLibraryGetKernel, struct standin_function **ret_kernel, struct code *library,
              const char *name)
{
    return cuModuleGetFunction(ret_kernel, library, name);
}

STANDIN_ENTRY(cuLibraryGetModule, struct code **ret_module, struct code *library)
{
    *ret_module = library;
    return CUDA_SUCCESS;
}

/* A library's kernel gets its code on a device when it is made a function there. */
STANDIN_ENTRY(cuKernelGetFunction, struct standin_function **ret_function,
              struct standin_function *kernel)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    *ret_function = kernel;
    return standin_unlock(load(kernel->code, context));
}

STANDIN_ENTRY(cuFuncLoad, struct standin_function *function)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    return standin_unlock(load(function->code, context));
}

STANDIN_ENTRY(cuFuncIsLoaded, int *ret_loaded, const struct standin_function *function)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    *ret_loaded = function->code->loaded_in[context->ordinal] != NULL;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuFuncGetModule, struct code **ret_module, const struct standin_function *function)
{
    *ret_module = function->code;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuFuncGetName, const char **ret_name, const struct standin_function *function)
{
    *ret_name = function->name;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuFuncGetAttribute, int *ret_value, int attribute,
              const struct standin_function *function)
{
    (void)function;
    *ret_value = attribute == 0 ? 1024 : 0; /* threads in a block */
    return CUDA_SUCCESS;
}
