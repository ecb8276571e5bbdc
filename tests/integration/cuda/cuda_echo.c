/* cuda_echo.c: calls every hooked entry point by both ways of looking it up, and prints the
 * arguments and results that did not pass unchanged.
 *
 * usage: cuda_echo DRIVER hooked|plain
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_entries.h"
#include "echo/echo_driver.h"

typedef uintptr_t word;
typedef int any_function(word, word, word, word, word, word, word, word, word, word, word);
typedef int handle_function(word, struct echo_handle, word);
typedef int lookup_function(const char *, void **, int, uint64_t, int *);

enum { IPC = 3 };
static const struct {
    const char *symbol;
    unsigned arguments;
    bool has_handle;
} entries[] = {
#define ROW(symbol, arguments, action) {#symbol, arguments, sizeof(#arguments) == sizeof("IPC")},
    ML_CUDA_ENTRIES(ROW)};

static struct echo *echo;
static bool hooked;
static int failures;

static void complain(const char *symbol, const char *what)
{
    printf("%s: %s\n", symbol, what);
    failures++;
}

static void check_owner(const char *symbol, void *function)
{
    Dl_info info = {0};
    const char *slash;

    if (!function || !dladdr(function, &info) || !info.dli_fname) {
        complain(symbol, "not found");
        return;
    }
    slash = strrchr(info.dli_fname, '/');
    if (hooked != !strncmp(slash ? slash + 1 : info.dli_fname, "libmemledger", 12))
        complain(symbol, info.dli_fname);
}

/* Arguments that fill their registers and are not twice the same. */
static word argument(unsigned i)
{
    static word counter;

    return (word)0x7654321000000000 + (++counter << 8) + i;
}

static int call(unsigned i, void *function, const word *args, const struct echo_handle *handle)
{
    if (entries[i].has_handle)
        return ((handle_function *)function)(args[0], *handle, args[2]);
    return ((any_function *)function)(args[0], args[1], args[2], args[3], args[4], args[5], args[6],
                                      args[7], args[8], args[9], args[10]);
}

static void check_call(unsigned i, void *function, int result)
{
    const char *symbol = entries[i].symbol;
    unsigned calls = echo->calls;
    struct echo_handle handle;
    word args[ECHO_ARGS];

    for (unsigned k = 0; k < ECHO_ARGS; k++)
        args[k] = argument(k);
    memset(&handle, (int)args[1] >> 8, sizeof(handle));
    echo->result = result;
    if (call(i, function, args, &handle) != result)
        complain(symbol, "another result");
    if (echo->calls != calls + 1 || strcmp(echo->symbol, symbol))
        complain(symbol, "another function was called, or not once");
    for (unsigned k = 0; k < entries[i].arguments; k++) {
        if (echo->args[k] != args[k] && !(entries[i].has_handle && k == 1))
            complain(symbol, "another argument");
    }
    if (entries[i].has_handle && memcmp(&echo->handle, &handle, sizeof(handle)))
        complain(symbol, "another handle");
}

static void check_entry(unsigned i, void *function)
{
    const char *symbol = entries[i].symbol;

    check_owner(symbol, function);
    if (!function || !strncmp(symbol, "cuGetProcAddress", 16))
        return;
    /* Failures; success would need arguments that make sense. */
    check_call(i, function, 1);
    check_call(i, function, 999);
}

int main(int argc, char **argv)
{
    void *driver = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    lookup_function *look_up;

    if (!driver) {
        fprintf(stderr, "usage: cuda_echo DRIVER hooked|plain\n");
        return 2;
    }
    hooked = !strcmp(argv[2], "hooked");
    echo = dlsym(driver, ECHO_SYMBOL);
    look_up = (lookup_function *)dlsym(driver, "cuGetProcAddress_v2");
    for (unsigned i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
        void *found = NULL;
        check_entry(i, dlsym(driver, entries[i].symbol));
        echo->result = 0;
        if (look_up(entries[i].symbol, &found, 13000, 0, NULL))
            complain(entries[i].symbol, "cuGetProcAddress fails");
        check_entry(i, found);
    }
    printf("%d failures\n", failures);
    return failures != 0;
}
