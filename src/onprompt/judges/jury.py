"""The judge of several models and the evidence: all are asked at the same time, and what each says is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from onprompt.errors import BackendError, BudgetSpent, OnpromptError, ServerTrouble, UnreadableAnswer, UserError
from onprompt.evidence.contradictions import contradicting
from onprompt.judges import evidence
from onprompt.judges.evidence import EvidenceJudge
from onprompt.judges.vlm import VlmJudge
from onprompt.models import voices as combining
from onprompt.models.client import model_client, settings_by_model
from onprompt.models.voices import EVIDENCE
from onprompt.settings import Settings
from onprompt.types import Judge, Plan, Rubric, Sample, Usage, Verdict, Voice
from onprompt.vision.runtime import use_single_core
from onprompt.wording import jury_failed, nothing_checked

VERSION = 1  # of how voices add up: with a new one, runs combine their cached answers again
AHEAD = 2  # samples in progress per question in progress: no model waits for the slowest
SETTINGS = ("jury_evidence", "jury_evidence_weight", "jury_weights", "jury_spread", "weights_source")
NOT_REPRODUCED = ("versions", "settings")  # parts of a judge's identity that are stored elsewhere
Result = Verdict | OnpromptError


def load(settings: Settings, rubric: Rubric) -> JuryJudge:
    """The judge for the models of the settings, and the evidence where the rubric supports it."""
    if not rubric.text:
        raise UserError(f"the rubric {rubric.name!r} has no question for a model")
    asked = settings_by_model(settings)
    if not asked:
        raise UserError("a jury needs a model: --model BACKEND/MODEL, such as openai/gpt-5.2")
    models = [VlmJudge(each, rubric, model_client(each, settings)) for each in asked]
    measuring = settings.model_copy(update={"model": "", "models": ()})
    heard = settings.jury_evidence and rubric.grade is not None
    return JuryJudge(settings, models, evidence.load(measuring, rubric) if heard else None)


class JuryJudge(Judge):
    """Sample → a verdict of each member → their weighted mean."""

    def __init__(self, settings: Settings, models: Sequence[VlmJudge], measured: EvidenceJudge | None) -> None:
        self.settings, self.models, self.evidence, self.rubric = settings, models, measured, models[0].rubric
        self.members: list[VlmJudge | EvidenceJudge] = [*models, *([measured] if measured else [])]
        self.names = [*(judge.model for judge in models), *([EVIDENCE] if measured else [])]
        if len(set(self.names)) < len(self.names):
            raise UserError("a jury has the same model twice; to ask a model repeatedly, use --repeats")
        combining.check_fitted([judge.model for judge in models], settings)
        self.model = ", ".join(judge.model for judge in models)
        self.slots = AHEAD * max(judge.slots for judge in models)
        self.bound_by = "model" if any(judge.bound_by == "model" for judge in self.members) else "server"
        self.recalls = measured is None and all(judge.recalls for judge in models)
        # Each member has its own threads, so that none takes those of another, or exceeds its own limit.
        self.pools = [ThreadPoolExecutor(judge.slots, initializer=use_single_core) for judge in self.members]

    @property
    def identity(self) -> Mapping[str, Any]:
        members = dict(zip(self.names, self.members, strict=True))
        about = {
            name: {key: value for key, value in judge.identity.items() if key not in NOT_REPRODUCED}
            for name, judge in members.items()
        }
        weights = {judge.model: combining.weight_of(judge.model, self.settings) for judge in self.models}
        return {"judge": "jury", "model": self.model, "version": VERSION, "weights": weights, "members": about}

    def judge(self, sample: Sample) -> Verdict:
        """The verdict by all members that answer; an error if no model does."""
        pending = [
            pool.submit(attempt, judge.judge, sample) for pool, judge in zip(self.pools, self.members, strict=True)
        ]
        return self.combine([future.result() for future in pending])

    def recall(self, sample: Sample) -> Verdict | None:
        """The verdict if all answers of all models are cached."""
        results = []
        for judge in self.models:
            if (result := attempt(judge.recall, sample)) is None:
                return None
            results.append(result)
        return self.combine(results)

    def combine(self, results: Sequence[Result]) -> Verdict:
        """What the members' results come to."""
        by_name = dict(zip(self.names, results, strict=True))
        verdicts = {name: result for name, result in by_name.items() if isinstance(result, Verdict)}
        if not verdicts.keys() - {EVIDENCE}:
            raise no_model_answered(by_name)
        measured = verdicts.get(EVIDENCE)
        voices = [self.voice(name, result, measured) for name, result in by_name.items()]
        voices = list(combining.with_shares(voices, self.settings))
        value, spread = combining.mean_value(voices), combining.spread(voices)
        closest = verdicts[combining.nearest(voices, value).name]
        flags = {
            "model_failed": any(isinstance(result, BackendError) for result in results),
            "model_unreadable": any(isinstance(result, UnreadableAnswer) for result in results),
            "judges_disagree": spread is not None and spread > self.settings.jury_spread,
        }
        return replace(
            measured or closest,
            judge="jury",
            value=value,
            factors=combining.mean_factors(voices, self.rubric),
            summary=closest.summary,
            flags=tuple(flag for flag, holds in flags.items() if holds),
            measures={**(measured or closest).measures, "spread": spread},
            answers=tuple(answer for result in results for answer in answers_of(result)),
            provenance=self.provenance(verdicts, measured or closest),
            voices=tuple(voices),
        )

    def voice(self, name: str, result: Result, measured: Verdict | None) -> Voice:
        """What a member says; evidence without any check or estimate says nothing."""
        if isinstance(result, OnpromptError):
            return Voice(name, error=str(result))
        said = Voice(name, 0.0, result.value, result.factors, result.summary, result.flags)
        if name == EVIDENCE:
            return replace(said, value=None, error=nothing_checked()) if is_placeholder(result) else said
        if measured is None:
            return said
        full = all(self.rubric.share(key, factor.score) == 1 for key, factor in result.factors.items())
        return replace(said, disputed=contradicting(measured.checks, result.checks, full))

    def provenance(self, verdicts: Mapping[str, Verdict], main: Verdict) -> dict[str, Any]:
        """All that is needed to reproduce a verdict, of each member."""
        members = {
            name: {key: value for key, value in verdict.provenance.items() if key not in NOT_REPRODUCED}
            for name, verdict in verdicts.items()
        }
        chosen = self.settings.model_dump(mode="json", include=set(SETTINGS))
        settings = {**main.provenance.get("settings", {}), **chosen}
        return {**main.provenance, "judge": "jury", "model": self.model, "settings": settings, "members": members}

    def plan(self, samples: Iterable[Callable[[], Sample]]) -> Plan:
        made = list(samples)
        parts = [judge.plan(made) for judge in self.models]
        usage = sum((part.usage for part in parts), Usage())
        if any(part.usage.cost is None for part in parts):
            usage = replace(usage, cost=None)
        calls, known = sum(part.calls for part in parts), sum(part.known for part in parts)
        return Plan(self.model, calls, known, usage, parts[0].faults, parts=parts if len(parts) > 1 else ())

    def spent(self) -> float:
        return self.models[0].spent()  # all models have one purse

    def stop(self) -> None:
        for judge in self.models:
            judge.stop()


def attempt(method: Callable[[Sample], Any], sample: Sample) -> Any:
    """What a member says, or why it can't: only errors that leave the others standing."""
    try:
        return method(sample)
    except BudgetSpent:
        raise
    except ServerTrouble as error:
        if error.kind == "stopped":
            raise
        return error
    except (BackendError, UnreadableAnswer) as error:
        return error


def is_placeholder(verdict: Verdict) -> bool:
    """Whether evidence has nothing to say: nothing could be checked, and nothing was estimated."""
    seen = verdict.prompt_evidence
    return "not_verifiable" in verdict.flags and not (seen and seen.estimates)


def answers_of(result: Result) -> Sequence[Any]:
    """The answers of a model, also those that could not be read."""
    return getattr(result, "answers", ())


def no_model_answered(results: Mapping[str, Result]) -> OnpromptError:
    """The error of a jury without a model: of an unreadable answer, which was paid for, or else of the first server."""
    errors = {name: result for name, result in results.items() if isinstance(result, OnpromptError)}
    message = jury_failed({name: str(error) for name, error in errors.items()})
    unreadable = [error for error in errors.values() if isinstance(error, UnreadableAnswer)]
    if not unreadable:
        first = next(iter(errors.values()))
        kind = first.kind if isinstance(first, ServerTrouble) else ""
        return ServerTrouble(kind, message) if kind else type(first)(message)
    error = UnreadableAnswer(unreadable[0].kind, message, unreadable[0].text)
    error.answers = tuple(answer for each in unreadable for answer in each.answers)
    costs = [each.spent for each in unreadable]
    known = [cost for *_, cost in costs if cost is not None]
    error.spent = sum(cost[0] for cost in costs), sum(cost[1] for cost in costs), sum(known) if known else None
    return error
