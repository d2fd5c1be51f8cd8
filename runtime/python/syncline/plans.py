"""A plan folder as an object with the numbers of its plan.json."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Dict, List, Optional, get_type_hints

from .errors import Error

SCHEMA = 20  # of plan.json, as planSchema in PlanConstants.h
LARGEST = 256 << 20  # bytes of plan.json, as maxPlanBytes
NUMBER, NONE = (int, float), type(None)


def typed(where: str, value: Any, kind: Any, *keys: str) -> Any:
    """What a JSON document has below these keys, where it is of the kind: a type or several."""
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            raise Error(f"{where}: expected key '{'.'.join(keys)}'")
        value = value[key]
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(each.__name__ for each in kinds)
        raise Error(f"{where}: expected {wanted} as '{'.'.join(keys)}', got {value!r:.80}")
    return value


@dataclass(frozen=True)
class Message:
    """A message of a plan. Times are in seconds from the beginning of the step."""

    id: int
    members: List[str]
    bytes: int
    scheme: str
    ready: float
    start: float
    end: float
    exposed: float


@dataclass(frozen=True)
class Plan:
    """A plan folder. Its plan.json is read when something of it is first asked for."""

    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))

    @property
    def _where(self) -> str:
        return f"'{self.path / 'plan.json'}'"

    @cached_property
    def json(self) -> Dict[str, Any]:
        """All that plan.json says."""
        file = self.path / "plan.json"
        try:
            if file.exists() and not (file.is_file() and file.stat().st_size <= LARGEST):
                raise Error(f"{self._where}: expected a file of at most {LARGEST >> 20} MiB")
            read = json.loads(file.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise Error(f"{self._where}: {error}") from error
        if not isinstance(read, dict):
            raise Error(f"{self._where}: expected an object, got {type(read).__name__}")
        if read.get("schema") != SCHEMA:
            told = f"expected a plan of schema {SCHEMA}, got {read.get('schema')!r:.80}"
            raise Error(f"{self._where}: {told}")
        return read

    def _at(self, kind: Any, *keys: str) -> Any:
        return typed(self._where, self.json, kind, *keys)

    @property
    def name(self) -> str:
        return self._at(str, "name")

    @property
    def ranks(self) -> int:
        return self._at(int, "ranks")

    @property
    def batch(self) -> Optional[int]:
        """Samples a rank; None for a plan of a layer trace."""
        return self._at((int, NONE), "batch")

    @property
    def step(self) -> float:
        """The predicted step, in seconds."""
        return self._at(NUMBER, "predicted", "step")

    @property
    def exposed(self) -> float:
        """Seconds of the step in which computation waits for messages."""
        return self._at(NUMBER, "predicted", "exposed")

    @property
    def efficiency(self) -> float:
        """The step of one device alone, which sends nothing, as a part of this step."""
        alone, step = self._at(NUMBER, "predicted", "alone"), self.step
        if step <= 0:
            raise Error(f"{self._where}: expected more than 0 s as 'predicted.step', got {step}")
        return alone / step

    @property
    def gap(self) -> Optional[float]:
        """How far the plan may be from the best one, as a part; None where no bound is known."""
        return self._at((*NUMBER, NONE), "predicted", "planner", "gap")

    @property
    def messages(self) -> List[Message]:
        kinds = {
            name: {float: NUMBER, List[str]: list}.get(kind, kind)
            for name, kind in get_type_hints(Message).items()
        }
        return [
            Message(**{name: typed(self._where, one, kinds[name], name) for name in kinds})
            for one in self._at(list, "buckets")
        ]
