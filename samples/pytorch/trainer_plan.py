"""Plans the network of trainer.py for two ranks: writes gpt.plan."""

import syncline.torch
import torch
import trainer

ids = torch.stack([each["input_ids"] for each in trainer.sums()[: trainer.BATCH]])
sample = {"input_ids": ids}
syncline.torch.plan(trainer.gpt(), sample, "laptop", "gpt.plan", planner="ddp-list")
