"""Names for the buckets of DistributedDataParallel: flat buffers with the gradients of several
parameters, which the ranks add up.

The Reducer, in C++, keeps them to itself. It allocates them when it is made, and again before the
second forward pass, in the order in which the gradients came.

SPDX-License-Identifier: Apache-2.0
"""
import weakref

from . import _native
from ._in_front import put
from ._naming import joint_name

# On CUDA a block may be this much larger than what was asked for: the allocator did not split it.
_UNSPLIT_BYTES = 1 << 20
_DEFAULT_CAP_BYTES = 25 << 20

_reducers = weakref.WeakKeyDictionary()  # Reducer -> _Buckets


def watch(torch, name_new):
    """Precondition: inside all_or_nothing()."""
    reducer = getattr(torch.distributed, "Reducer", None)
    if reducer is None:  # built without torch.distributed
        return

    def made(args, kwargs, blocks):
        name_new()
        buckets = _reducers[args[0]] = _Buckets(torch, *args[1:], **kwargs or {})
        buckets.label(blocks, buckets.first)
    put(reducer, "__init__", _native.scoped_watch(reducer.__init__, after=made))
    put(reducer, "_rebuild_buckets",
        _native.scoped_watch(reducer._rebuild_buckets, after=_rebuilt))


def _rebuilt(args, kwargs, blocks):
    buckets = _reducers.get(args[0])
    if buckets is not None:
        buckets.label(blocks, buckets.rebuilt())


class _Buckets:
    """What a Reducer was given. Its parameters are those of the constructor in C++."""

    def __init__(self, torch, params, bucket_indices, per_bucket_size_limits=None,
                 process_group=None, expect_sparse_gradients=(),
                 bucket_bytes_cap=_DEFAULT_CAP_BYTES, find_unused_parameters=False,
                 gradient_as_bucket_view=False, param_to_name_mapping=None,
                 first_bucket_bytes_cap=None, *_, **__):
        self._parameters = [_Parameter(parameter) for parameter in params]
        self._limits = [first_bucket_bytes_cap or torch.distributed._DEFAULT_FIRST_BUCKET_BYTES,
                        bucket_bytes_cap]
        self._category = _native.GRADIENT if gradient_as_bucket_view else _native.COMMUNICATION
        self.first = bucket_indices

    def rebuilt(self):
        """The parameters of each bucket if their gradients came in the reverse order of the
        model, as they usually do."""
        open_buckets, full = {}, []
        for place in reversed(range(len(self._parameters))):
            parameter = self._parameters[place]
            bucket = open_buckets.setdefault(parameter.kind, _Bucket())
            bucket.add(place, parameter.bytes)
            if bucket.bytes >= self._limits[bucket.number]:
                full.append(bucket.places)
                open_buckets[parameter.kind] = _Bucket(number=1)
        return full + [bucket.places for bucket in open_buckets.values() if bucket.places]

    def label(self, blocks, buckets):
        """Names the blocks among those allocated that are buckets, the last of them last."""
        named = self._match(blocks, buckets) or self._match_all(blocks)
        for (address, _, device), places in named:
            names = self._names(places)
            _native.label_block(device, address, joint_name(names) if names else "bucket",
                                self._category)

    def _match(self, blocks, buckets):
        """Each bucket with its block. None: they do not fit."""
        named, left = [], list(blocks)
        for places in reversed(buckets):
            wanted = sum(map(self._bytes, places))
            while left and not _fits(left[-1], wanted):
                left.pop()
            if not left:
                return None
            named.append((left.pop(), places))
        return named

    def _match_all(self, blocks):
        """The last blocks that together have room for all gradients, by all parameters."""
        places = range(len(self._parameters))
        missing, named = sum(map(self._bytes, places)), []
        for block in reversed(blocks):
            if missing > 0:
                named.append((block, places))
                missing -= block[1]
        return named

    def _bytes(self, place):
        return self._parameters[place].bytes

    def _names(self, places):
        names = (self._parameters[place].name for place in sorted(places))
        return tuple(name for name in names if name)


class _Parameter:
    """What is needed of one. No reference to it: PyTorch swaps no tensors that have weak ones."""

    def __init__(self, tensor):
        self.name = _native.tracked_name(tensor)
        self.bytes = tensor.numel() * tensor.element_size()
        self.kind = (tensor.dtype, tensor.device)  # a bucket has one kind


class _Bucket:
    """One that is being filled, as the Reducer does it. The first of a kind has its own limit."""

    def __init__(self, number=0):
        self.places, self.bytes, self.number = [], 0, number

    def add(self, place, size):
        self.places.append(place)
        self.bytes += size


def _fits(block, wanted):
    _, found, device = block
    return found == wanted if device < 0 else wanted <= found <= wanted + _UNSPLIT_BYTES
