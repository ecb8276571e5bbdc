/* cairo_library.c: see cairo_library.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairo_library.h"

#include <dlfcn.h>
#include <errno.h>

#include "compiler.h"

#define LIBRARY "libcairo.so.2"
#define WAY_OUT                                                                                    \
    "PNG and PDF are drawn with Cairo; install it (apt install libcairo2), or write -o NAME.svg, " \
    "which needs no library"

int ml_cairo_open(struct ml_cairo *ret, struct ml_error *err)
{
    static const char *const names[] = {
#define NAME(result, name, args) "cairo_" #name,
        ML_CAIRO_FUNCTIONS(NAME)
#undef NAME
    };
    void **const slots[] = {
#define SLOT(result, name, args) (void **)&ret->name,
        ML_CAIRO_FUNCTIONS(SLOT)
#undef SLOT
    };
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return ml_error_set(err, -ENOSYS, "%s (%s)", WAY_OUT, dlerror());
    for (size_t i = 0; i < ML_ARRAY_SIZE(names); i++) {
        *slots[i] = dlsym(library, names[i]);
        if (!*slots[i])
            return ml_error_set(err, -ENOSYS, "%s (" LIBRARY " has no %s)", WAY_OUT, names[i]);
    }
    *(void **)&ret->pdf_surface_set_metadata = dlsym(library, "cairo_pdf_surface_set_metadata");
    return 0;
}
