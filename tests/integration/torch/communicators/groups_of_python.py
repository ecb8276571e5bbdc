# groups_of_python.py: two process groups as PyTorch shows them to Python, with doubles of it and of
# NCCL. One has the description that it was given. Two share the options of the program.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes

from memledger import _native, _process_groups


class Group:
    """The interface of torch.distributed.ProcessGroup that name_group() uses, and of its parts."""

    type = "cuda"

    def __init__(self, config, name):
        self._device_types = [self]
        self.options = self.config = self
        self._pointer = config
        self.group_name = name

    def _get_backend(self, device):
        return self

    def unsafe_get_ptr(self):
        return self._pointer

    def rank(self):
        return 0

    def size(self):
        return 2


def main():
    driver, torch_cuda = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libtorch_cuda.so")
    torch_cuda.config_of_part.restype = ctypes.c_void_p
    context = ctypes.c_void_p()
    driver.cuInit(0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
    _native.torch_begin()
    first = Group(torch_cuda.config_of_part(), "1")
    for description in ("tensor parallel", "undefined"):
        _process_groups.name_group(None, first, description)
        torch_cuda.use_communicators()
    second = Group(torch_cuda.config_of_part(), "2")
    _process_groups.name_group(None, second, "data parallel")
    torch_cuda.use_communicators()


main()
