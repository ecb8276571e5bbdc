/* live_api.h: the functions of the recorder, besides the public API, that the Python package's
 * extension calls: the table of live blocks, and the late start in a process that `memledger run`
 * did not start.
 *
 * Found by name, like memledger.h's table. Both sides come from one build; the version and size say
 * so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LIVE_API_H
#define ML_LIVE_API_H

#include <stddef.h>
#include <stdint.h>

#define ML_LIVE_API_NAME "memledger_live_v1"
#define ML_LIVE_API_VERSION 3
#define ML_LIVE_ALL_PHASES (-1)

enum ml_live_recording {
    ML_LIVE_NOT_RECORDED = 0,
    ML_LIVE_RECORDED_FROM_START = 1, /* `memledger run` */
    ML_LIVE_RECORDED_LATE = 2,
};

/* Devices are 0, the host, and 1 + CUDA's ordinal; phases are enum ml_phase. Errors are negative
 * errno values. */
struct ml_live_api {
    uint32_t version;
    uint32_t struct_bytes;

    /* The table. */
    int (*switch_on)(int attached); /* 1: it is on; attached: until end_attach */
    /* The table goes off, and PyTorch's hooks away, unless the program needs them. Precondition:
     * the caller has Python's lock, if there is one. */
    void (*end_attach)(void);
    int (*is_on)(void);
    void (*seeding)(int on); /* around the listing of existing blocks and their seeds */
    int (*seed)(int device, uint64_t address, uint64_t bytes); /* 1: it was new */
    int (*find)(uint64_t address, uint64_t *ret_bytes, int *ret_device, int *ret_phase);
    uint64_t (*bytes)(int device, int phase);
    uint64_t (*peak)(int device);
    void (*reset_peak)(int device);
    uint64_t (*missed)(void);
    void (*tell)(void); /* writes the blocks that a late recording's trace lacks into it */

    /* Phases. */
    int (*set_process_phase)(int phase); /* returns the previous one */
    void (*rephase)(const uint64_t *addresses, size_t count, int phase);
    void (*log_begin)(void);
    /* 1: *ret is set */
    int (*log_end)(uint64_t devices, uint64_t *others, size_t count, uint64_t *ret);
    void (*log_forward)(int on);
    size_t (*log_take)(uint64_t *addresses, size_t max);

    /* Late start. */
    int (*patch_torch)(void); /* 1: PyTorch is loaded, and its hooks are in place */
    int (*patch_mxnet)(void); /* the same for MXNet, in a process that is recorded late */
    /* The driver's function at that address, or its hook if driver calls are recorded. */
    uint64_t (*cuda_hook)(uint64_t address);
    /* In a recording that `memledger attach` is beginning: an allocation of the driver that exists
     * already. */
    void (*cuda_block)(int ordinal, uint64_t address, uint64_t bytes, int is_virtual);
    unsigned (*mxnet_seed)(const void *array); /* see ml_mxnet_seed */
    int (*recording)(void);                    /* enum ml_live_recording */
    int (*join)(const char *session_dir);      /* precondition: the table is on */
    int (*leave)(void);                        /* asks the collector to finish */
    void (*after_leave)(void);                 /* after the collector has finished */
};

#endif
