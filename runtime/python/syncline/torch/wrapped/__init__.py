"""A model whose gradients travel by a plan, without DistributedDataParallel."""
