/* echo_driver.c: a libcuda.so.1 with every hooked entry point. It does nothing, remembers the
 * arguments of each call and returns a preset result. It shows whether a hook passes its
 * arguments on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "echo_driver.h"

#include <string.h>

#include "cuda_entries.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED extern struct echo echo;
struct echo echo;

static int find(const char *symbol, void **ret);

static int hear(const char *symbol, const uintptr_t *args)
{
    echo.symbol = symbol;
    echo.calls++;
    memcpy(echo.args, args, sizeof(echo.args));
    return echo.result;
}

/* Eleven arguments, whatever the function has: where fewer were passed, the rest
 * is anything. */
#define PARAMS                                                                                     \
    uintptr_t a0, uintptr_t a1, uintptr_t a2, uintptr_t a3, uintptr_t a4, uintptr_t a5,            \
        uintptr_t a6, uintptr_t a7, uintptr_t a8, uintptr_t a9, uintptr_t a10
#define PLAIN(symbol)                                                                              \
    EXPORTED int symbol(PARAMS);                                                                   \
    int symbol(PARAMS)                                                                             \
    {                                                                                              \
        uintptr_t args[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10};                          \
        int result = hear(#symbol, args);                                                          \
        return strncmp(#symbol, "cuGetProcAddress", 16) ? result                                   \
                                                        : find((const char *)a0, (void **)a1);     \
    }
#define WITH_HANDLE(symbol)                                                                        \
    EXPORTED int symbol(uintptr_t a0, struct echo_handle handle, uintptr_t a2);                    \
    int symbol(uintptr_t a0, struct echo_handle handle, uintptr_t a2)                              \
    {                                                                                              \
        uintptr_t args[ECHO_ARGS] = {a0, 0, a2};                                                   \
        echo.handle = handle;                                                                      \
        return hear(#symbol, args);                                                                \
    }

/* By the number in the table. */
#define DEFINE_0(symbol) PLAIN(symbol)
#define DEFINE_1(symbol) PLAIN(symbol)
#define DEFINE_2(symbol) PLAIN(symbol)
#define DEFINE_3(symbol) PLAIN(symbol)
#define DEFINE_4(symbol) PLAIN(symbol)
#define DEFINE_5(symbol) PLAIN(symbol)
#define DEFINE_6(symbol) PLAIN(symbol)
#define DEFINE_7(symbol) PLAIN(symbol)
#define DEFINE_8(symbol) PLAIN(symbol)
#define DEFINE_9(symbol) PLAIN(symbol)
#define DEFINE_10(symbol) PLAIN(symbol)
#define DEFINE_11(symbol) PLAIN(symbol)
#define DEFINE_IPC(symbol) WITH_HANDLE(symbol)
#define DEFINE(symbol, arguments, action) DEFINE_##arguments(symbol)
ML_CUDA_ENTRIES(DEFINE)

/* By the whole symbol, not as the real one does. */
static int find(const char *symbol, void **ret)
{
#define ROW(name, arguments, action)                                                               \
    if (!strcmp(symbol, #name)) {                                                                  \
        *ret = (void *)name;                                                                       \
        return echo.result;                                                                        \
    }
    ML_CUDA_ENTRIES(ROW)
    *ret = NULL;
    return 500;
}
