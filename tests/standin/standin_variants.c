/* SPDX-License-Identifier: Apache-2.0 */
#include "standin_driver.h"

int standin_nothing(void);
int standin_unsupported(void);

int standin_nothing(void)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    return status ? status : standin_unlock(CUDA_SUCCESS);
}

int standin_unsupported(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* A jump hands on all arguments, whatever they are. An alias would not do: hooks
 * tell entry points apart by their addresses. */
#define SAME(symbol, target)                                                                       \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " #symbol "\n"                                                                 \
            ".type " #symbol ", @function\n" #symbol ":\n"                                         \
            "    jmp " #target "\n"                                                                \
            ".size " #symbol ", . - " #symbol "\n"                                                 \
            ".popsection\n");
#include "standin_variants.h"
