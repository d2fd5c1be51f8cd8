"""The backend 'syncline' of torch.distributed, from PyTorch 2.14 on."""

import uuid

from syncline.torch import versions
from syncline.torch.collectives import Collectives


def device_of(options):
    """The first device that a backend is made for, which is in its store's prefix alone."""
    key = f"syncline device {uuid.uuid4().hex}"  # the store may outlive the group
    options.store.set(key, "")
    is_cuda = options.process_group.get_group_store().check([f"cuda//{key}"])
    options.store.delete_key(key)
    return "cuda" if is_cuda else "cpu"


class SynclineBackend(Collectives, versions.backend_class()):
    """A process group's backend on CPUs, CUDA devices or both."""

    def __init__(self, options, nccl_options=None, device=None):
        rank, ranks = options.group_rank, options.group_size
        super().__init__(rank, ranks)
        label = str(options.group_id) or "default"
        device = device or device_of(options)
        nccl = (options.global_ranks_in_group, nccl_options)
        self.begin(options.store, rank, ranks, label, options.timeout, device, nccl)

    def getBackendName(self):
        return "syncline"

    def _get_sequence_number_for_group(self):
        return self.watch.calls

    def _set_sequence_number_for_group(self):
        pass

    # Only where all tensors are NCCL's: Gloo has no such groups of calls.
    @property
    def supports_coalescing(self):
        return self.nccl is not None and self.gloo is None

    def start_coalescing(self):
        self.nccl._start_coalescing()

    def end_coalescing(self):
        return self.nccl._end_coalescing()
