"""What the members of a run's jury say alone, in pairs and together, from its stored verdicts: nothing is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from onprompt.models.voices import EVIDENCE, shares
from onprompt.runs.ledger import Ledger, damaged
from onprompt.types import Voice

DOCUMENTS = """SELECT s.id, d.document FROM documents d JOIN samples s ON s.number = d.sample
JOIN present_verdicts v ON v.sample = d.sample AND v.generation = d.generation WHERE d.generation = ?"""

MOST = 100  # voices of a jury: every two of them are compared
Said = Mapping[str, tuple[float, float]]  # value and weight by voice


@dataclass(frozen=True, slots=True)
class Heard:
    """What is read of a stored verdict to learn what each voice says."""

    judge: str = ""
    value: float = 0.0
    flags: tuple[str, ...] = ()
    voices: tuple[Voice, ...] = ()


def voice_values(ledger: Ledger, generation: int) -> dict[str, dict[str, float]]:
    """Values by sample of each voice, each two, and all, where every voice gave a score; empty without a jury."""
    said = {name: read(ledger, document) for name, document in ledger.query(DOCUMENTS, (generation,))}
    names = list(dict.fromkeys(voice for voices in said.values() for voice in voices))
    if len(names) > MOST:
        raise damaged(ledger.path, f"a jury of more than {MOST} voices")
    complete = {sample: voices for sample, voices in said.items() if names and len(voices) == len(names)}
    sizes = sorted({1, 2, len(names)} & set(range(1, len(names) + 1)))
    return {
        " + ".join(chosen): {sample: mean(chosen, voices) for sample, voices in complete.items()}
        for size in sizes
        for chosen in combinations(names, size)
    }


def read(ledger: Ledger, document: str) -> dict[str, tuple[float, float]]:
    """The voices of a stored verdict that gave a score."""
    voices = ledger.read(document, Heard).voices
    return {voice.name: (voice.value, voice.weight) for voice in voices if voice.value is not None and voice.weight > 0}


def mean(chosen: Sequence[str], said: Said) -> float:
    """The value of some of the voices, by the weights that they have in the jury."""
    models = [name for name in chosen if name != EVIDENCE]
    if not models:
        return said[EVIDENCE][0]
    beside = [name for name in chosen if name == EVIDENCE]
    total = sum(weight for name, (_, weight) in said.items() if name != EVIDENCE)
    weights = shares([said[name][1] for name in models], said[EVIDENCE][1] / total if beside else 0.0)
    return sum(weight * said[name][0] for weight, name in zip(weights, (*models, *beside), strict=True))
