"""PyTorch's side of the timings: seconds of a training step of a model, alone or under
DistributedDataParallel. Prints one JSON object from rank 0: seconds by variant, and where the model
came from.

    torch_step.py MODEL SCRIPT --batch N --size N --precision fp32|tf32|bf16 --steps N
                  [--device cuda] [--graph] [--compiled]

torchvision's module where it is installed, else TorchScript. Variants: eager and, with --graph,
captured in a CUDA graph; each with channels first and last, for either may be faster. With
--compiled there is one variant, torch.compile's with CUDA graphs and channels last. A figure is the
mean over all steps, with one wait at the end. Ranks read RANK, WORLD_SIZE, MASTER_ADDR and
MASTER_PORT, and all use GPU 0.
"""

import argparse
import contextlib
import json
import os
import sys
import time
import warnings

import torch

WARM_UP = 11  # DistributedDataParallel wants as many before a capture


def build(name, script):
    """The model in training mode, without dropout, and where it is from."""
    try:
        import torchvision
    except ImportError:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = torch.jit.load(script, map_location="cpu").train()
        for _, parameter in model.named_parameters():
            parameter.data = torch.empty(parameter.shape).normal_(0, 0.02)
        return model, "TorchScript"
    model = getattr(torchvision.models, name)(weights=None)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    return model.train(), "torchvision"


class Side:
    """One model, its optimizer, its samples."""

    def __init__(self, chosen, last):
        self.chosen = chosen
        self.ranks = int(os.environ.get("WORLD_SIZE", 1))
        layout = torch.channels_last if last else torch.contiguous_format
        model, self.source = build(chosen.model, chosen.script)
        model = model.to(chosen.device).to(memory_format=layout)
        if chosen.compiled:
            model = torch.compile(model, mode="reduce-overhead")
        if self.ranks > 1:
            devices = [0] if chosen.device == "cuda" else None
            model = torch.nn.parallel.DistributedDataParallel(model, device_ids=devices)
        self.model = model
        fused = chosen.device == "cuda"
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9, fused=fused)
        shape = (chosen.batch, 3, chosen.size, chosen.size)
        self.images = torch.randn(shape, device=chosen.device).to(memory_format=layout)
        self.labels = torch.randint(0, 1000, (chosen.batch,), device=chosen.device)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        rounded = contextlib.nullcontext()
        if self.chosen.precision == "bf16":
            rounded = torch.autocast(self.chosen.device, torch.bfloat16, cache_enabled=False)
        with rounded:
            loss = torch.nn.functional.cross_entropy(self.model(self.images), self.labels)
        loss.backward()
        self.optimizer.step()

    def wait(self):
        if self.chosen.device == "cuda":
            torch.cuda.synchronize()

    def time(self, run):
        for _ in range(WARM_UP):
            run()
        self.wait()
        start = time.perf_counter()
        for _ in range(self.chosen.steps):
            run()
        self.wait()
        return (time.perf_counter() - start) / self.chosen.steps

    def captured(self):
        """What replays one whole step."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                self.step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step()
        return graph.replay


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model")
    parser.add_argument("script")
    for name in ("--batch", "--size", "--steps"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--precision", choices=["fp32", "tf32", "bf16"], required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--last", action="store_true", help="channels last alone")
    chosen = parser.parse_args(words)
    torch.backends.cudnn.benchmark = True
    tf32 = chosen.precision == "tf32"
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = tf32
    ranks, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if ranks > 1:
        torch.distributed.init_process_group("nccl" if chosen.device == "cuda" else "gloo")
    seconds, failed = {}, {}
    if chosen.compiled:
        side = Side(chosen, last=True)
        seconds["compiled, channels last"] = side.time(side.step)
    for last in () if chosen.compiled else (True,) if chosen.last else (False, True):
        layout = "channels last" if last else "channels first"
        side = Side(chosen, last)
        seconds[f"eager, {layout}"] = side.time(side.step)
        if chosen.graph:
            try:
                seconds[f"graph, {layout}"] = side.time(side.captured())
            except RuntimeError as error:  # the others count, and the check says what is missing
                failed[f"graph, {layout}"] = str(error).splitlines()[0]
    if rank == 0:
        said = {"seconds": seconds, "failed": failed, "source": side.source}
        if chosen.device == "cuda":
            said["reserved"] = torch.cuda.max_memory_reserved()
        print(json.dumps(said), flush=True)
    if ranks > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1:])
