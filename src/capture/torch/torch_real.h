/* torch_real.h: PyTorch's own functions, which the hooks wrap.
 *
 * This code never loads PyTorch. Python loads it so that only its own libraries find each other's
 * symbols, so this looks for the functions in PyTorch's library, not among all that is loaded. Once
 * found, the library stays loaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_REAL_H
#define ML_TORCH_REAL_H

#include <stdbool.h>

#include "compiler.h"
#include "torch_entries.h"

/* NULL while unknown. Read with __atomic_load_n. */
extern void *ml_torch_reals[ML_TORCH_ENTRY_COUNT];

/* Looks for all of them in PyTorch's library, if that is loaded. Keeps errno. */
void ml_torch_learn(void);

/* The same; `caller` is an address in the code that called the hook. Keeps errno. Never NULL: if
 * there is none, a function that does nothing and returns 0. */
void *ml_torch_find(enum ml_torch_entry entry, const void *caller);

static ML_ALWAYS_INLINE void *ml_torch_real(enum ml_torch_entry entry, const void *caller)
{
    void *real = __atomic_load_n(&ml_torch_reals[entry], __ATOMIC_RELAXED);

    return ML_LIKELY(real != NULL) ? real : ml_torch_find(entry, caller);
}

/* A function of libtorch_cpu that has no hook, by its name; NULL: there is none.
 * Takes the loader's lock. */
void *ml_torch_function(const char *symbol);

/* Look-ups of the hooked functions. */
extern const struct ml_dlsym_provider ml_torch_dlsym;

/* The hook of that name; NULL: it has none. And the known function that it wraps. */
void *ml_torch_hook_of(const char *symbol);
void *ml_torch_behind(const char *symbol);

/* For a process that loaded PyTorch without the hooks, because the recorder was not preloaded:
 * points all libraries loaded so far at them. May be called again after others were loaded. Does
 * nothing if the libraries find the hooks without help. Keeps errno.
 * @return whether PyTorch is loaded and has hooks */
bool ml_torch_patch(void);

/* Points those slots back at PyTorch. Keeps errno. */
void ml_torch_unpatch(void);

#endif
