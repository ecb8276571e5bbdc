/* python_find.c: see python_find.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "python_find.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "loaded_symbols.h"

/* A version's low byte, for a release; its candidates have the same layout. */
#define RELEASE_CANDIDATE 0xc0

static uintptr_t symbol(const char *name)
{
    return (uintptr_t)ml_symbol_anywhere(name);
}

/* "3.10.13 (main, …": before 3.11 there is only text. */
static uint32_t version_in(const char *text)
{
    unsigned minor = 0;

    if (strncmp(text, "3.", 2))
        return 0;
    for (text += 2; *text >= '0' && *text <= '9' && minor < 100; text++)
        minor = 10 * minor + (unsigned)(*text - '0');
    return 3u << 24 | minor << 16 | RELEASE_CANDIDATE;
}

static uint32_t version(void)
{
    const unsigned long *number = (const unsigned long *)symbol("Py_Version");
    const char *(*text)(void) = (const char *(*)(void))symbol("Py_GetVersion");

    if (number)
        return (uint32_t)*number;
    return text ? version_in(text()) : 0;
}

static uintptr_t either(const char *name, const char *older_name)
{
    uintptr_t found = symbol(name);

    return found ? found : symbol(older_name);
}

bool ml_python_find(struct ml_python *ret)
{
    const void *runtime = (const void *)symbol("_PyRuntime");
    uint32_t v = runtime ? version() : 0;

    if ((v & 0xff) < RELEASE_CANDIDATE || !ml_python_layout(v, runtime, &ret->layout))
        return false;
    ret->thread_state = (void *(*)(void))symbol("PyGILState_GetThisThreadState");
    ret->finalizing = (int (*)(void))either("Py_IsFinalizing", "_Py_IsFinalizing");
    ret->loop = symbol("_PyEval_EvalFrameDefault");
    ret->code_type = symbol("PyCode_Type");
    ret->text_type = symbol("PyUnicode_Type");
    ret->bytes_type = symbol("PyBytes_Type");
    return ret->thread_state && ret->finalizing && ret->code_type && ret->text_type &&
           ret->bytes_type;
}
