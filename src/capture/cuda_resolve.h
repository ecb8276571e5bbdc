/* cuda_resolve.h: where the driver's own functions are, and which hook stands for
 * which of them.
 *
 * The driver is never loaded from here: until the program has loaded it there is
 * nothing to find. Once found it stays loaded, for hooks lead there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_RESOLVE_H
#define ML_CUDA_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_entries.h"

/* The hooks, in the order of the table; made in cuda_hooks.c. */
extern void *const ml_cuda_hooks[ML_CUDA_ENTRY_COUNT];

/* The driver's own functions; NULL while not known. Read with __atomic_load_n. */
extern void *ml_cuda_real[ML_CUDA_ENTRY_COUNT];

/* Whether the book is to be told: there is a session that wants it. Set once the
 * driver is known. */
extern bool ml_cuda_armed;

/* Looks for a loaded driver unless it is known already. May change what dlerror()
 * says. @return whether it is known */
bool ml_cuda_resolve(void);

/* What to call when the driver's function is not known after all: what the caller's
 * library has by that name, else one that fails. Libraries that load the driver at
 * the first call have a function of their own for each of its names.
 * @caller  an address in its code */
void *ml_cuda_fallback(enum ml_cuda_entry entry, const void *caller);

/* The entry of that name, ML_CUDA_ENTRY_COUNT when it has no hook. */
enum ml_cuda_entry ml_cuda_entry_of(const char *name);

/* What to hand out for an address that was looked up: the hook where it is the
 * driver's function of an entry and the book is to be told, else the address. */
void *ml_cuda_hand_out(void *address);

/* The addresses among which all of the driver's functions are. */
struct ml_cuda_span {
    uintptr_t begin, end;
};
struct ml_cuda_span ml_cuda_real_span(void);

#endif
