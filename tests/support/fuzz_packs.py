"""Whatever a pack holds, loading it gives a pack or says what is wrong, and a pack that loads answers.

`make fuzz` runs it for ten minutes, `make fuzz MINUTES=1` for one. The first text that breaks something is shown,
shrunk, and the exit status is 1.
"""

import argparse
import copy
import json
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings, strategies as st

from whyroute.errors import WhyrouteError
from whyroute.packs import Pack, PackError, load_pack
from whyroute.packs.load.composing import parsed
from whyroute.packs.source.nodes import plain_value
from whyroute.packs.source.sources import Source
from yamltexts import PIECES, SEEDS, texts

__all__ = ["check_pack", "documents", "main", "packs"]

ROUND = 500
"""How many texts between two looks at the clock."""

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 1.5, 10**400, 1e308, "", " ", "all", "a", "\ud800", "\x00", "*", "2026-02-30", "é"),
    *(
        [],
        {},
        [[]],
        [{}],
        [None],
        {"": ""},
        {"not": {}},
        {"any": []},
        {"is": "c"},
        {"region": "eu"},
        {"lowest": "callUsd"},
    ),
)
"""Values to put where another belongs."""


def _trees() -> list[Any]:
    found = []
    for text in SEEDS:
        root, problems = parsed(Source("a.yaml", text))
        if root is not None and not problems:
            found.append(plain_value(root))
    return found


TREES = _trees()


@st.composite
def documents(draw: st.DrawFn) -> str:
    """The document of a case with a few of its values replaced, left out or moved; JSON, which is YAML too."""
    tree = copy.deepcopy(draw(st.sampled_from(TREES)))
    for _ in range(draw(st.integers(1, 4))):
        places = list(_places(tree))
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        match draw(st.integers(0, 3)):
            case 0:
                del holder[key]
            case 1:
                holder[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
            case 2:
                other, at = draw(st.sampled_from(places))
                with suppress(KeyError, IndexError):
                    holder[key] = copy.deepcopy(other[at])
            case _:
                other, at = draw(st.sampled_from(places))
                if isinstance(at, str) and isinstance(holder, dict):
                    holder[at] = copy.deepcopy(holder[key])
    return json.dumps(tree, ensure_ascii=draw(st.booleans()))


def _places(tree: Any) -> Any:
    if isinstance(tree, dict | list):
        for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from _places(tree[key])


packs = texts | documents() | st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


def check_pack(path: Path, data: bytes) -> str:
    """What became of a pack of one file; everything it answers was asked for once.

    Returns:
        `refused`, `no tenants`, or `answered`.
    """
    path.write_bytes(data)
    refused: PackError | None = None
    try:
        pack = load_pack(path)
    except PackError as error:
        refused = error
    if refused is not None:
        assert refused.problems
        json.dumps(refused.to_dict())
        return "refused"
    return "answered" if _answers(pack) else "no tenants"


def _answers(pack: Pack) -> bool:
    answered = False
    for tenant in pack.tenants:
        asked: list[str | dict[str, Any]] = [*pack.capabilities, {"needs": []}]
        for capability in asked:
            for at in ("2026-12-24", "2027-06-01T12:00:00Z"):
                try:
                    answer = pack.resolve(tenant, capability, at=at).answer(include=("explanation", "request"))
                except WhyrouteError as error:
                    json.dumps(error.to_dict())
                    continue
                json.dumps(answer, allow_nan=False)
                answered = True
    return answered


def main(minutes: float, first: int) -> int:
    """Fuzz for some minutes, from a seed on. Returns the exit status."""
    end = time.monotonic() + minutes * 60
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "fuzz.yaml")
        number = first
        while time.monotonic() < end:

            @seed(number)
            @settings(
                max_examples=ROUND,
                deadline=None,
                database=None,
                print_blob=False,
                suppress_health_check=list(HealthCheck),
            )
            @given(packs)
            def one_round(text: str) -> None:
                seen[check_pack(path, text.encode("utf-8", "surrogatepass"))] += 1

            one_round()
            number += 1
    print(f"{sum(seen.values())} packs, seeds {first} to {number - 1}: {dict(sorted(seen.items()))}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=None, help="the first seed; default: a new one each time")
    given_arguments = parser.parse_args()
    chosen = random.SystemRandom().randrange(10**6) if given_arguments.seed is None else given_arguments.seed
    sys.exit(main(given_arguments.minutes, chosen))
