/* echo_driver.h: the last call that the echo driver received.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ECHO_DRIVER_H
#define ML_ECHO_DRIVER_H

#include <stdint.h>

#define ECHO_ARGS 11

struct echo_handle {
    char bytes[64];
};

struct echo {
    const char *symbol;
    unsigned calls; /* since the start */
    uintptr_t args[ECHO_ARGS];
    struct echo_handle handle; /* of the last call that had one */
    int result;                /* what to answer next */
};

/* Exported by the driver under this name. */
#define ECHO_SYMBOL "echo"

#endif
