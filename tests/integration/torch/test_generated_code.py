#!/usr/bin/env python3
# test_generated_code.py: reads code as PyTorch's compiler generates it for the host and for CUDA,
# in several versions, and runs it with the calls that tell where it allocates. Needs no PyTorch.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

import harness
from harness import equal

sys.path.insert(0, os.environ["TEST_PACKAGE"])
from memledger._generated_code import ENTER, GeneratedCode  # noqa: E402

# PyTorch 2.15, for the host. Its own kernels have no comment.
HOST = """
cpp_fused_relu_0 = async_compile.cpp_pybinding(['float*'], r'''
extern "C" void kernel(float* in_out_ptr0)
''')
cpp_fused_layer_norm_1 = async_compile.cpp_pybinding(['float*', 'const float*', 'const int*'], r'''
''')

class Runner:
    def __init__(self, partitions):
        self.partitions = partitions

    def call(self, args):
        primals_1, primals_2, primals_3, primals_4 = args
        args.clear()
        buf0 = empty_strided_cpu((256, 128), (128, 1), torch.float32)
        # Topologically Sorted Source Nodes: [input_1], Original ATen: [aten.t, aten.addmm]
        extern_kernels.addmm(primals_2, primals_3, reinterpret_tensor(primals_1, (64, )), out=buf0)
        del primals_1
        buf1 = buf0; del buf0  # reuse
        cpp_fused_relu_0(buf1)
        buf2 = empty_strided_cpu((256, 1), (1, 256), torch.float32)
        buf3 = reinterpret_tensor(buf2, (256, 1), (1, 1), 0); del buf2  # reuse
        cpp_fused_layer_norm_1(buf3, buf1, primals_4)
        # Topologically Sorted Source Nodes: [x, input_2], Original ATen: [aten.convolution]
        buf4 = extern_kernels.convolution(buf1, primals_4, bias=None)
        return (buf1, primals_3, reinterpret_tensor(buf3, (256, ), (1, ), 0), buf4, None, )

runner = Runner(partitions=[])
call = runner.call
"""

# PyTorch 2.3, for CUDA: a function, inside a guard, with the comment above the stream.
CUDA = """
def call(args):
    arg0_1, arg1_1 = args
    args.clear()
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0)
        buf0 = empty_strided_cuda((8, 8), (8, 1), torch.float32)
        # Source Nodes: [l__self___fc, relu], Original ATen: [aten.addmm, aten.relu]
        stream0 = get_raw_stream(0)
        triton_poi_fused_relu_0.run(arg0_1, buf0, 64, grid=grid(64), stream=stream0)
        del arg0_1
        # Source Nodes: [], Original ATen: []
        buf1 = torch.ops.aten._scaled_dot_product_efficient_attention.default(buf0, buf0, buf0)
        buf2 = buf1[0]
        return (buf2, )
"""

# Parts of a graph that PyTorch makes CUDA graphs of.
PARTS = """
def partition_0(args):
    arg0_1, = args
    args.clear()
    with torch.cuda._DeviceGuard(0):
        buf0 = empty_strided_cuda((8, 8), (8, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.mm]
        extern_kernels.mm(arg0_1, arg0_1, out=buf0)
        return (buf0, )

class Runner:
    def call(self, args):
        arg0_1, = args
        args.clear()
        partition0_args = [arg0_1]
        (buf0,) = self.partitions[0](partition0_args)
        del partition0_args
        return (buf0, )
"""


def places(code):
    return [(place.buffer, place.kernel.nodes if place.kernel else None) for place in code.places]


def test_buffers_of_the_host():
    code = GeneratedCode(HOST)
    equal(places(code), [("buf0", None), (None, ["input_1"]), ("buf2", None),
                         ("buf4", ["x", "input_2"])], "places")
    equal([code.storage(name) for name in ("buf1", "buf3", "buf4")], ["buf0", "buf2", "buf4"],
          "buffers that share memory")
    equal(code.results, ["buf1", "primals_3", "buf3", "buf4", None], "results")
    equal([(kernel.written, kernel.nodes) for kernel in code.kernels],
          [(["buf0"], ["input_1"]), (["buf0"], []), (["buf2"], []), (["buf4"], ["x", "input_2"])],
          "what kernels write")


def test_buffers_of_cuda():
    code = GeneratedCode(CUDA)
    equal(places(code), [("buf0", None), ("buf1", [])], "places")
    equal(code.kernels[0].nodes, ["l__self___fc", "relu"], "nodes of the first kernel")
    equal(code.storage("buf2"), "buf1", "a part of a result")


def test_parts_share_the_names_of_buffers():
    code = GeneratedCode(PARTS)
    equal(places(code), [("buf0", None), (None, ["linear"])], "places")
    equal(code.results, ["buf0"], "results of the whole")
    equal({name for name, _ in GeneratedCode(PARTS).instrumented("parts.py")}, {"partition_0"},
          "changed functions")


class Anything:
    """Answers each call and attribute with itself."""

    def __getattr__(self, name):
        return self

    def __call__(self, *args, **kwargs):
        return self


def test_the_code_tells_its_places():
    """Each before its statement, and lines keep their numbers."""
    entered, code = [], GeneratedCode(HOST)
    changed = code.instrumented("host.py")
    equal(list(changed), [("call", HOST.splitlines().index("    def call(self, args):") + 1)],
          "changed functions")
    names = ("torch", "extern_kernels", "reinterpret_tensor", "cpp_fused_relu_0",
             "cpp_fused_layer_norm_1", "empty_strided_cpu")
    space = {name: Anything() for name in names}
    space[ENTER] = entered.append
    call = type(places)(next(iter(changed.values())), space)
    equal(len(call(None, [1, 2, 3, 4])), 5, "results")
    equal(entered, [0, 1, 2, 3], "places")
    lines = {line for _, _, line in call.__code__.co_lines()} if hasattr(
        call.__code__, "co_lines") else set()
    known = {number for number, line in enumerate(HOST.splitlines(), 1) if line.strip()}
    equal(lines - known - {None}, set(), "lines that the source has not")


harness.main(globals())
