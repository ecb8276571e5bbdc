/* test_cuda_compile.c: the kernels compile for common GPUs if NVRTC is installed; no GPU is
 * needed. Without NVRTC it is skipped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_compile.h"

/* Newer than any compiler: it gives PTX for the driver to translate. */
enum { FAR_FUTURE = 999, TOO_OLD = 10, SKIPPED = 77 };

static void gives_code_for_the_gpu(void **state)
{
    static const int capabilities[] = {80, 90};

    (void)state;
    for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
        char *image = NULL;

        assert_int_equal(
            cuda_compile_nvrtc(cuda_kernels_text, capabilities[i], NULL, (void **)&image), 0);
        assert_memory_equal(image, "\177ELF", 4);
        free(image);
    }
}

static void gives_ptx_for_newer_gpus(void **state)
{
    char *image = NULL;

    (void)state;
    assert_int_equal(cuda_compile_nvrtc(cuda_kernels_text, FAR_FUTURE, NULL, (void **)&image), 0);
    assert_non_null(strstr(image, ".entry kernel_fft_rows_back"));
    assert_non_null(strstr(image, "kernel_cosine"));
    free(image);
}

static void refuses_what_it_cannot_do(void **state)
{
    void *image = NULL;

    (void)state;
    assert_int_equal(cuda_compile_nvrtc(cuda_kernels_text, TOO_OLD, NULL, &image), -ENODEV);
    assert_int_equal(cuda_compile_nvrtc("no C at all", FAR_FUTURE, NULL, &image), -ENODEV);
    assert_int_equal(cuda_compile_nvrtc(cuda_kernels_text, FAR_FUTURE, "/no/such/folder", &image),
                     -ENOENT);
    assert_null(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_code_for_the_gpu),
        cmocka_unit_test(gives_ptx_for_newer_gpus),
        cmocka_unit_test(refuses_what_it_cannot_do),
    };
    void *image = NULL;

    if (cuda_compile_nvrtc(cuda_kernels_text, FAR_FUTURE, NULL, &image) == -ENOENT) {
        puts("skipped: NVIDIA's compiler (libnvrtc) is not installed");
        return SKIPPED;
    }
    free(image);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
