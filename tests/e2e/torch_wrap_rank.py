"""A rank of test_torch_wrap.py: torch_wrap_rank.py FOLDER RANK RANKS SECONDS KIND.. Prints a
line of JSON for each kind."""

import datetime
import json
import os
import pathlib
import sys

import torch
import torch.distributed as dist
import torch_wrap_factors as factors
import torch_wrap_limits as limits
import torch_wrap_lives as lives
import torch_wrap_shards as shards
import torch_wrap_training as training
import torch_wrap_weights as travelling
from torch_wrap_case import Case


def main(folder, rank, ranks, seconds, *kinds):
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=os.environ["MEET"],
        rank=int(rank),
        world_size=int(ranks),
        timeout=datetime.timedelta(seconds=float(seconds)),
    )
    for kind in kinds:
        places = (training, travelling, factors, shards, limits, lives)
        place = next(each for each in places if hasattr(each, kind))
        case = getattr(place, kind)
        result = case(Case(pathlib.Path(folder), int(rank), int(ranks)))
        print(json.dumps({kind: result}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
