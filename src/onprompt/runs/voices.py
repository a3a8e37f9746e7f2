"""What the members of a run's jury say alone, in pairs and together, from its stored verdicts: nothing is asked."""

import json
from collections.abc import Mapping, Sequence
from itertools import combinations

from onprompt.models.voices import EVIDENCE, shares
from onprompt.runs.ledger import Ledger

DOCUMENTS = """SELECT s.id, d.document FROM documents d JOIN samples s ON s.number = d.sample
JOIN present_verdicts v ON v.sample = d.sample AND v.generation = d.generation WHERE d.generation = ?"""
Said = Mapping[str, tuple[float, float]]  # value and weight by voice


def voice_values(ledger: Ledger, generation: int) -> dict[str, dict[str, float]]:
    """Values by sample of each voice, each two, and all, where every voice gave a score; empty without a jury."""
    said = {name: read(document) for name, document in ledger.query(DOCUMENTS, (generation,))}
    names = list(dict.fromkeys(voice for voices in said.values() for voice in voices))
    complete = {sample: voices for sample, voices in said.items() if names and len(voices) == len(names)}
    sizes = sorted({1, 2, len(names)} & set(range(1, len(names) + 1)))
    return {
        " + ".join(chosen): {sample: mean(chosen, voices) for sample, voices in complete.items()}
        for size in sizes
        for chosen in combinations(names, size)
    }


def read(document: str) -> dict[str, tuple[float, float]]:
    """The voices of a stored verdict that gave a score."""
    voices = json.loads(document).get("voices", ())
    return {voice["name"]: (voice["value"], voice["weight"]) for voice in voices if voice.get("weight")}


def mean(chosen: Sequence[str], said: Said) -> float:
    """The value of some of the voices, by the weights that they have in the jury."""
    models = [name for name in chosen if name != EVIDENCE]
    if not models:
        return said[EVIDENCE][0]
    beside = [name for name in chosen if name == EVIDENCE]
    total = sum(weight for name, (_, weight) in said.items() if name != EVIDENCE)
    weights = shares([said[name][1] for name in models], said[EVIDENCE][1] / total if beside else 0.0)
    return sum(weight * said[name][0] for weight, name in zip(weights, (*models, *beside), strict=True))
