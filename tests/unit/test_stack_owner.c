/* test_stack_owner.c: owners by the names that users know; frames with their names; C++
 * demangled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include <stdio.h>

#include "stack_owner.h"
#include "stack_report.h"
#include "stack_view.h"

/* The owner of a stack that lies in these libraries, innermost first; NULL is a
 * frame whose library is not known. */
static void owner_is(const char *expected, const char *const *paths, size_t count)
{
    struct fixture f = fixture_begin();
    char buf[16], said[64];
    struct ml_trace *trace;
    uint32_t stack = 0;

    for (size_t i = count; i-- > 0;) {
        int64_t library = -1;

        if (paths[i])
            library = ml_maker_library(f.maker, 0, 0x1000, 0x2000, paths[i], "");
        stack = ml_maker_stack(f.maker, stack, ml_maker_frame(f.maker, library, 16 + i));
    }
    trace = fixture_open(&f);
    snprintf(said, sizeof(said), "%s", ml_stack_owner(trace, stack, buf, sizeof(buf)));
    ml_trace_free(trace);
    assert_string_equal(said, expected);
}

#define OWNER(expected, ...)                                                                       \
    owner_is(expected, (const char *const[]){__VA_ARGS__},                                         \
             sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

#define DRIVER "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159"
#define SITE "/usr/lib/python3/site-packages/"

static void libraries_have_their_names(void **state)
{
    (void)state;
    OWNER("cuBLAS", DRIVER, SITE "nvidia/cublas/lib/libcublasLt.so.12",
          SITE "torch/lib/libtorch.so");
    OWNER("cuBLAS", SITE "torch/lib/libcublas.so.11");
    OWNER("cuDNN", "/usr/lib/libcudnn_engines_precompiled.so.9");
    OWNER("cuFFT", "/usr/local/cuda/lib64/libcufft.so.12");
    OWNER("cuSOLVER", "libcusolver.so.12");
    OWNER("cuSPARSE", "/libcusparseLt.so.0");
    OWNER("cuRAND", "/libcurand.so.10");
    OWNER("NCCL", DRIVER, "/x/libnccl.so.2");
    OWNER("NVRTC", "/x/libnvrtc-builtins.so.13.0");
    OWNER("nvJitLink", "/x/libnvJitLink.so.13");
    OWNER("PyTorch", DRIVER, "/x/libcudart.so.13", SITE "torch/lib/libc10_cuda.so");
    OWNER("PyTorch", SITE "torch/_C.cpython-312-x86_64-linux-gnu.so");
    OWNER("JAX/XLA", SITE "jax_plugins/xla_cuda13/xla_cuda_plugin.so");
    OWNER("JAX/XLA", SITE "jaxlib/_jax.so");
    OWNER("JAX/XLA", "/opt/pjrt_c_api_gpu_plugin.so");
    OWNER("CuPy", SITE "cupy_backends/cuda/api/runtime.cpython-312-x86_64-linux-gnu.so");
    OWNER("CuPy", SITE "cupy/cuda/memory.cpython-312-x86_64-linux-gnu.so");
    OWNER("Triton", SITE "triton/_C/libtriton.so");
    OWNER("Triton", "/root/.triton/cache/AB/cuda_utils.so");
    OWNER("MXNet", SITE "mxnet/libmxnet.so");
}

static void others_are_called_by_their_file(void **state)
{
    (void)state;
    OWNER("vgg19", DRIVER, "/home/me/vgg19", "/lib/libc.so.6");
    OWNER("libmine.so.2", "/opt/libmine.so.2");
    OWNER("libmine.so.2", "libmine.so.2");
    OWNER("cupyfan", "/home/torch/cupyfan"); /* no package */
    OWNER("train", "/tmp/train (deleted)");
    OWNER("a-very-long-nam", "/tmp/a-very-long-name (deleted)"); /* what fits */
}

static void those_who_pass_a_call_on_did_not_ask(void **state)
{
    (void)state;
    OWNER("CUDA driver", DRIVER, "/lib/libnvidia-ptxjitcompiler.so.1", "/lib/libc.so.6");
    OWNER("prog", "/x/libmemledger.so", DRIVER, "/x/libcudart.so.12", NULL, "/bin/prog");
    OWNER("python3.12", DRIVER, "/lib/libffi.so.8", "/x/_ctypes.cpython-312.so", "/bin/python3.12");
    OWNER("unknown", NULL, NULL);
    OWNER("unknown", "/lib/libc.so.6");
    OWNER("unknown", "");
    owner_is("unknown", NULL, 0); /* stack 0 */
}

static void unknown_stacks_are_nobodys(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_stack_view view = {0};
    struct ml_trace *trace;
    char buf[1];

    (void)state;
    ml_maker_stack(f.maker, 0, ml_maker_frame(f.maker, 12345, 1)); /* no such library */
    trace = fixture_open(&f);
    assert_string_equal(ml_stack_owner(trace, 1, buf, sizeof(buf)), "unknown");
    assert_string_equal(ml_stack_owner(trace, 999, buf, 0), "unknown");
    assert_int_equal(ml_stack_asker(trace, 999), 0);
    assert_int_equal(ml_stack_view(trace, 999, &view), 0);
    assert_int_equal(view.frames.len, 1);
    assert_null(view.frames.items[0].function);
    ml_stack_view_release(&view);
    ml_trace_free(trace);
}

static void views_have_names_and_places(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t program = ml_maker_library(f.maker, 0, 1, 2, "/bin/prog", "");
    uint32_t driver = ml_maker_library(f.maker, 0, 3, 4, DRIVER, "");
    uint32_t main_frame = ml_maker_frame(f.maker, program, 0x50);
    uint32_t stack = ml_maker_stack(f.maker, 0, main_frame);
    struct ml_stack_view view = {0};
    struct ml_trace *trace;

    (void)state;
    stack = ml_maker_stack(f.maker, stack, ml_maker_frame(f.maker, driver, 0x60));
    ml_maker_symbol(f.maker, main_frame, "main");
    trace = fixture_open(&f);
    assert_int_equal(ml_stack_view(trace, stack, &view), 0);
    assert_int_equal(view.frames.len, 2);
    assert_int_equal(view.asker, 1);
    assert_string_equal(view.owner, "prog");
    assert_null(view.frames.items[0].function);
    assert_string_equal(view.frames.items[0].library, DRIVER);
    assert_string_equal(view.frames.items[1].function, "main");
    assert_true(view.frames.items[1].has_offset && view.frames.items[1].offset == 0x50);
    ml_stack_view_release(&view);
    ml_trace_free(trace);
}

static void demangled_is(const char *symbol, const char *expected)
{
    struct ml_buf out = {0};

    assert_int_equal(ml_demangle(symbol, &out), 0);
    assert_string_equal((const char *)out.data, expected);
    ml_buf_release(&out);
}

static void other_names_are_left_as_they_are(void **state)
{
    (void)state;
    demangled_is("main", "main");
    demangled_is("", "");
    demangled_is("_Z", "_Z");
    demangled_is("_Znonsense", "_Znonsense");
    demangled_is("_RNvCs1234_7mycrate3foo", "_RNvCs1234_7mycrate3foo");
}

/* Where there is no C++ library the name stays. */
static void cxx_names_are_in_words(void **state)
{
    struct ml_buf out = {0};

    (void)state;
    assert_int_equal(ml_demangle("_ZN2at5emptyEl", &out), 0);
    assert_true(!strcmp((const char *)out.data, "at::empty(long)") ||
                !strcmp((const char *)out.data, "_ZN2at5emptyEl"));
    ml_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries_have_their_names),
        cmocka_unit_test(others_are_called_by_their_file),
        cmocka_unit_test(those_who_pass_a_call_on_did_not_ask),
        cmocka_unit_test(unknown_stacks_are_nobodys),
        cmocka_unit_test(views_have_names_and_places),
        cmocka_unit_test(other_names_are_left_as_they_are),
        cmocka_unit_test(cxx_names_are_in_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
