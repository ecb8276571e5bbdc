/* nvtx_instance.h: NVTX's end of nvtx_abi.h: function pointers in tables, for a
 * recorder that is linked in. The real NVTX is met in tests/integration/nvtx.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_NVTX_INSTANCE_H
#define ML_TEST_NVTX_INSTANCE_H

#include <stdbool.h>

#include "nvtx_abi.h"

struct nvtx_instance {
    int (*push)(const char *message);
    int (*pop)(void);
    ml_nvtx_domain (*create)(const char *name);
    ml_nvtx_string (*register_string)(ml_nvtx_domain, const char *text);
    void (*name_category)(ml_nvtx_domain, uint32_t category, const char *name);
    int (*domain_push)(ml_nvtx_domain, const struct ml_nvtx_attributes *);
    int (*domain_pop)(ml_nvtx_domain);
};

extern struct nvtx_instance nvtx;

/* Whether the recorder has attached itself. */
bool nvtx_attach(void);

#endif
