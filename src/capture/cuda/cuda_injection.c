/* cuda_injection.c: the entry point for programs that cannot be preloaded: the driver loads the
 * library that CUDA_INJECTION64_PATH names while it starts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "cuda_resolve.h"
#include "dlsym_hook.h"
#include "got_patch.h"

__attribute__((visibility("default"))) int InitializeInjection(void);

/* If the library is preloaded, the program finds the hooks without help. */
static bool is_preloaded(void)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    void *found = program ? ml_dlsym_real_function()(program, "dlsym") : NULL;

    if (program)
        dlclose(program);
    return found == (const void *)ml_dlsym_hook;
}

/* Called by the driver inside cuInit. @return 1: the driver continues */
int InitializeInjection(void)
{
    if (!is_preloaded() && ml_cuda_resolve() && ml_cuda_armed)
        ml_got_patch();
    return 1;
}
