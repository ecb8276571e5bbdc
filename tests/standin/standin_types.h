/* standin_types.h: the few types of the CUDA driver's interface that the stand-in needs.
 * Handles are plain pointers to the objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STANDIN_TYPES_H
#define STANDIN_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* Results of the driver's calls. */
enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_FILE_NOT_FOUND = 301,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
};

typedef uint64_t standin_address; /* in the memory of a device */

/* Where memory is, or is to be. */
struct standin_place {
    int kind;
    int number; /* of the device, in CUDA's order */
};
#define STANDIN_ON_DEVICE 1

#endif
