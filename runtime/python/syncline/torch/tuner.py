"""Which variables make NCCL follow a plan. Knows nothing of PyTorch."""

from pathlib import Path

TABLE, PLUGIN = "nccl-tuner.csv", "libnccl-tuner-syncline.so"


def variables(folder, library, environment):
    """Those of the plan in a folder, which NCCL reads when a communicator is made: none where the
    plan has no table, the tuner was not built beside the library, or the user chose a tuner."""
    table, plugin = Path(folder).absolute() / TABLE, Path(library).absolute().parent / PLUGIN
    if environment.get("NCCL_TUNER_PLUGIN") or not table.is_file() or not plugin.is_file():
        return {}
    return {"NCCL_TUNER_PLUGIN": str(plugin), "SYNCLINE_NCCL_TABLE": str(table)}
