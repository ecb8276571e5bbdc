/* cuda_call.h: the interface between the hooks on the CUDA driver and the book.
 *
 * A hook forwards its call unchanged and calls the book before and after. The entry's *action*
 * decides what the book does. One table lists the actions of all relevant entry points of the
 * driver (cuda_entries.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_CALL_H
#define ML_CUDA_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ML_CUDA_ARGS_MAX 11

/* The meaning of a call for the book. Argument numbers count from 0. In an argument that is
 * narrower than a register (a device, a limit, flags) the upper bits are undefined. */
enum ml_cuda_action {
    ML_CUDA_ALLOC,          /* *0 address, 1 bytes */
    ML_CUDA_ALLOC_PITCH,    /* *0 address, *1 pitch, 2 width, 3 height */
    ML_CUDA_ALLOC_MANAGED,  /* *0 address, 1 bytes */
    ML_CUDA_ALLOC_HOST,     /* *0 pointer, 1 bytes */
    ML_CUDA_FREE,           /* 0 address: of device, managed, pool or graph memory */
    ML_CUDA_FREE_HOST,      /* 0 pointer */
    ML_CUDA_REGISTER,       /* 0 pointer, 1 bytes */
    ML_CUDA_UNREGISTER,     /* 0 pointer */
    ML_CUDA_ALLOC_ASYNC,    /* *0 address, 1 bytes, 2 stream */
    ML_CUDA_ALLOC_POOL,     /* *0 address, 1 bytes, 2 pool, 3 stream */
    ML_CUDA_FREE_ASYNC,     /* 0 address, 1 stream */
    ML_CUDA_POOL_CREATE,    /* *0 pool, 1 properties */
    ML_CUDA_POOL_DESTROY,   /* 0 pool */
    ML_CUDA_POOL_TRIM,      /* 0 pool */
    ML_CUDA_STREAM,         /* a stream is created or destroyed */
    ML_CUDA_SYNCHRONIZE,    /* pools may have shrunk */
    ML_CUDA_CREATE,         /* *0 handle, 1 bytes, 2 properties */
    ML_CUDA_RELEASE,        /* 0 handle */
    ML_CUDA_RETAIN_HANDLE,  /* *0 handle, 1 address */
    ML_CUDA_MAP,            /* 0 address, 1 bytes, 2 offset, 3 handle */
    ML_CUDA_UNMAP,          /* 0 address, 1 bytes */
    ML_CUDA_ARRAY_CREATE,   /* *0 array, 1 descriptor */
    ML_CUDA_ARRAY_DESTROY,  /* 0 array */
    ML_CUDA_IPC_OPEN,       /* *0 address; the handle is a struct by value */
    ML_CUDA_IPC_CLOSE,      /* 0 address */
    ML_CUDA_GRAPH,          /* a graph is created or destroyed; its memory may have changed */
    ML_CUDA_GRAPH_TRIM,     /* 0 device: its graphs release memory */
    ML_CUDA_GRAPH_LAUNCH,   /* 0 executable graph: its memory may have grown */
    ML_CUDA_INIT,           /* the driver starts */
    ML_CUDA_CONTEXT_MAKE,   /* a context may be created */
    ML_CUDA_PEER,           /* this context gets access to another device */
    ML_CUDA_CONTEXT_END,    /* 0 context: destroyed */
    ML_CUDA_PRIMARY_MAKE,   /* *0 context, 1 device */
    ML_CUDA_PRIMARY_END,    /* 0 device: released or reset */
    ML_CUDA_MODULE,         /* code is loaded or unloaded */
    ML_CUDA_LIMIT,          /* 0 limit, 1 value */
    ML_CUDA_FIRST_LAUNCH,   /* 0 function or kernel: reported at its first launch only */
    ML_CUDA_FIRST_LAUNCH_1, /* the same, 1 function */
    ML_CUDA_FIRST_ASK_0,    /* 0 function or kernel: reported when first looked up or queried */
    ML_CUDA_FIRST_ASK_1,    /* the same, 1 function */
    ML_CUDA_FIRST_ASK_2,    /* the same, 2 function */
    ML_CUDA_FIRST_CALL,     /* reported at the entry's first call only */
    ML_CUDA_GET_PROC,       /* *1: returns hooks */
    ML_CUDA_ACTIONS,
};

/* One call while it is under way, on the hook's stack. */
struct ml_cuda_call {
    uint16_t entry;     /* enum ml_cuda_entry */
    uint16_t action;    /* enum ml_cuda_action */
    uint32_t recording; /* in which begin asks for a call of end; 0: none */
    uintptr_t args[ML_CUDA_ARGS_MAX];
    uint64_t saved[6]; /* the action's own data, from begin to end */
};

/* The value that the call stored where its first argument points; valid only after it succeeded. */
static inline uint64_t ml_cuda_out_arg(const struct ml_cuda_call *call)
{
    return *(const uint64_t *)call->args[0];
}

/* Called before and after the driver's function; `result` is its CUresult. Neither changes the
 * call. Keep errno. Never nested on one thread: calls that the driver or the book itself makes are
 * only forwarded. An event that is reported once ("first") is reported again until a call succeeds,
 * and after contexts or code have changed. */
void ml_cuda_begin(struct ml_cuda_call *call);
void ml_cuda_end(struct ml_cuda_call *call, int result);

/* Replaces ml_cuda_end for the last call that this thread has begun, if it will not return: its
 * thread is cancelled, or a signal handler has left it by longjmp. */
void ml_cuda_abandon(void);

/* Set by a free in a pool: the next ML_CUDA_SYNCHRONIZE has to check. While it is 0, none is
 * reported. */
extern _Atomic uint32_t ml_cuda_dirty_pools;

/* Whether this thread is inside a hook that calls the book, and will return to it. */
bool ml_cuda_is_inside_call(void);

/* The driver's function of that name, without hooks; NULL when the driver is not loaded or has
 * none. */
void *ml_cuda_function(const char *name);

#endif
