"""Trains a small GPT-2 to continue sums, such as '27+35=62', by transformers' Trainer, under
torchrun."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

CHARACTERS = "0123456789+= "
LENGTH, BATCH = 8, 25


def gpt():
    """For lines of 8 characters; 3.2 million parameters."""
    size = {"vocab_size": len(CHARACTERS), "n_positions": LENGTH, "n_embd": 256, "n_layer": 4}
    none = {"bos_token_id": None, "eos_token_id": None, "use_cache": False}
    return GPT2LMHeadModel(GPT2Config(**size, n_head=4, **none))


def sums():
    """All lines 'a+b=c' of numbers below 50, as ids."""
    lines = [f"{a}+{b}={a + b}".ljust(LENGTH) for a in range(50) for b in range(50)]
    ids = [[CHARACTERS.index(each) for each in line] for line in lines]
    return [{"input_ids": torch.tensor(each), "labels": torch.tensor(each)} for each in ids]


def main():
    torch.manual_seed(0)
    arguments = TrainingArguments(
        "trained",
        use_cpu=True,
        per_device_train_batch_size=BATCH,
        max_steps=100,
        logging_steps=25,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        ddp_find_unused_parameters=False,
    )
    Trainer(gpt(), arguments, train_dataset=sums()).train()


if __name__ == "__main__":
    main()
