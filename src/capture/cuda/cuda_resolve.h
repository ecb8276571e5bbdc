/* cuda_resolve.h: finds the driver's own functions, and maps them to hooks.
 *
 * This code never loads the driver: until the program has loaded it there is nothing to find. Once
 * found it stays loaded, because hooks lead there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_RESOLVE_H
#define ML_CUDA_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_entries.h"

/* The hooks, in the order of the table; defined in cuda_hooks.c. */
extern void *const ml_cuda_hooks[ML_CUDA_ENTRY_COUNT];

/* The driver's own functions; NULL while unknown. Read with __atomic_load_n. */
extern void *ml_cuda_real[ML_CUDA_ENTRY_COUNT];

/* Whether hooks call the book: there is a session that wants it. Set once the driver is known. */
extern bool ml_cuda_armed;

/* Sets that for a process that is under way, now or once the driver is known. The hooks stay in
 * place: while they do not call the book, each passes its call on after a few loads. */
void ml_cuda_arm(bool on);

/* Looks for a loaded driver unless it is known already. May change what dlerror() returns. @return
 * whether it is known */
bool ml_cuda_resolve(void);

/* The function to call when the driver's is unknown: the one of that name in the caller's library,
 * otherwise one that fails. Libraries that load the driver at the first call define a function for
 * each of its names.
 * @caller  an address in its code */
void *ml_cuda_fallback(enum ml_cuda_entry entry, const void *caller);

/* The entry of that name, ML_CUDA_ENTRY_COUNT when it has no hook. */
enum ml_cuda_entry ml_cuda_entry_of(const char *name);

/* The function to return for an address that was looked up: the hook if it is the driver's function
 * of an entry and hooks call the book, otherwise the address. */
void *ml_cuda_hand_out(void *address);

/* Look-ups of the driver's functions. */
extern const struct ml_dlsym_provider ml_cuda_dlsym;

/* The address range that contains all of the driver's functions. */
struct ml_cuda_span {
    uintptr_t begin, end;
};
struct ml_cuda_span ml_cuda_real_span(void);

/* Points the program at the hooks, in a process that the recorder was loaded into late
 * (got_patch.c), and objects that it loads from now on. Without a driver only look-ups are hooked.
 * Takes the loader's lock. Keeps errno. */
void ml_got_patch_begin(void);

/* Leaves later objects alone. Those of before keep their hooks. */
void ml_got_patch_end(void);

/* Points objects that were loaded meanwhile at the hooks, after ml_got_patch_begin or if the driver
 * loaded the recorder; otherwise does nothing. Cheap when nothing was loaded. Keeps errno. */
void ml_got_patch_again(void);

#endif
