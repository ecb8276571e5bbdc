/* cuda_library.h: finds NVIDIA's libraries in the usual places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_CUDA_LIBRARY_H
#define VGG19_CUDA_LIBRARY_H

#include <stddef.h>

/* The places, for messages. */
#define CUDA_LIBRARY_PLACES                                                                        \
    "--cuda-libs, the loader's path, $CUDA_HOME/lib64, /usr/local/cuda, the nvidia wheels of "     \
    "$VIRTUAL_ENV, ~/.local and PATH"

/* Opens the first of `names` (NULL-terminated) that it finds: only in `folder` if given, else
 * by name, under $CUDA_HOME and /usr/local/cuda, and in the nvidia wheels of $VIRTUAL_ENV, of
 * ~/.local and of the folders beside those of PATH. Returns NULL without a message if there is
 * none. The library stays open. */
void *cuda_library_open(const char *const *names, const char *folder);

/* An entry point and the variable for its address. */
struct cuda_symbol {
    const char *name;
    void **address;
};

/* Finds all symbols. Returns 0, or -ENODEV after a message with the missing symbol and the
 * library's `name`. */
int cuda_library_symbols(void *library, const char *name, const struct cuda_symbol *symbols,
                         size_t count);

#endif
