/* live_api.h: what the Python package's extension asks of the recorder besides the
 * public API: the table of live blocks, and the way into a process that was not
 * started by `memledger run`.
 *
 * Found by name, as memledger.h's table. Both sides are of one build; the version
 * and size say so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LIVE_API_H
#define ML_LIVE_API_H

#include <stddef.h>
#include <stdint.h>

#define ML_LIVE_API_NAME "memledger_live_v1"
#define ML_LIVE_API_VERSION 1
#define ML_LIVE_ALL_PHASES (-1)

enum ml_live_recording {
    ML_LIVE_NOT_RECORDED = 0,
    ML_LIVE_RECORDED_FROM_START = 1, /* `memledger run` */
    ML_LIVE_RECORDED_LATE = 2,
};

/* Devices are 0, the host, and 1 + CUDA's ordinal; phases are enum ml_phase. Reasons
 * are negative errno values. */
struct ml_live_api {
    uint32_t version;
    uint32_t struct_bytes;

    /* The table. */
    int (*switch_on)(void); /* 1: it is on */
    int (*is_on)(void);
    int (*seed)(int device, uint64_t address, uint64_t bytes); /* 1: it was new */
    int (*find)(uint64_t address, uint64_t *ret_bytes, int *ret_device, int *ret_phase);
    uint64_t (*bytes)(int device, int phase);
    uint64_t (*peak)(int device);
    void (*reset_peak)(int device);
    uint64_t (*missed)(void);
    void (*tell)(void); /* blocks that a late recording's trace lacks, into it */

    /* Phases. */
    int (*set_process_phase)(int phase); /* the one before */
    void (*rephase)(const uint64_t *addresses, size_t count, int phase);
    void (*log_begin)(void);
    int (*log_end)(uint64_t devices, uint64_t *others, size_t count, uint64_t *ret); /* 1: told */

    /* The way in. */
    int (*patch_torch)(void); /* 1: PyTorch is there, and its hooks in place */
    int (*patch_mxnet)(void); /* the same of MXNet, in a process that is recorded late */
    int (*recording)(void);   /* enum ml_live_recording */
    int (*join)(const char *session_dir);
    int (*leave)(void);        /* the collector is told to finish */
    void (*after_leave)(void); /* it has finished */
};

#endif
