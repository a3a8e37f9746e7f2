"""The judge of several models and the evidence: all are asked at the same time, and what each says is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from typing import Any

from onprompt.errors import (
    BackendError,
    BudgetSpent,
    OnpromptError,
    PromptError,
    ServerTrouble,
    UnreadableAnswer,
    UserError,
)
from onprompt.evidence.beliefs import MATCHER
from onprompt.judges import evidence
from onprompt.judges.claims import ClaimsJudge
from onprompt.judges.evidence import EvidenceJudge
from onprompt.judges.vlm import VlmJudge
from onprompt.models import voices as combining
from onprompt.models.answer_store import AnswerStore
from onprompt.models.client import SharedBudget, open_client, settings_by_model
from onprompt.models.voices import CLAIMS, EVIDENCE
from onprompt.settings import Settings
from onprompt.types import Asks, Flag, Judge, JudgePlan, Rubric, Sample, Usage, Verdict, Voice
from onprompt.vision.runtime import use_single_core
from onprompt.wording import NOTHING_CHECKED, jury_failed

ASKS = Asks.SEVERAL
VERSION = 2  # of how voices add up: with a new one, runs combine their cached answers again
AHEAD = 2  # samples in progress per question in progress: no model waits for the slowest
SETTINGS = [name for name in Settings.model_fields if name.startswith("jury_")]
NOT_REPRODUCED = ("versions", "settings")  # parts of a judge's identity that are stored elsewhere
DISAGREEMENT = 0.5  # difference between two voices' values above which they disagree
Result = Verdict | OnpromptError


def load(settings: Settings, rubric: Rubric) -> JuryJudge:
    """The judge for the models of the settings, and the evidence where the rubric supports it."""
    if not rubric.text:
        raise UserError(f"the rubric {rubric.name!r} has no question for a model")
    asked = settings_by_model(settings)
    if not asked:
        raise UserError("a jury needs a model: --model BACKEND/MODEL, such as openai/gpt-5.2")
    shared = SharedBudget(settings.budget), AnswerStore(settings.answers)
    models = [load_member(each, rubric, *shared) for each in asked]
    measuring = settings.model_copy(update={"model": "", "models": ()})
    heard = settings.jury_evidence_weight > 0 and rubric.grade is not None
    return JuryJudge(settings, models, evidence.load(measuring, rubric) if heard else None)


def load_member(settings: Settings, rubric: Rubric, purse: SharedBudget, store: AnswerStore) -> VlmJudge | ClaimsJudge:
    """The judge for one model: by the rubric's own question, or claim by claim."""
    plain = settings.model_copy(update={"model": settings.model.removeprefix(CLAIMS)})
    kind = VlmJudge if plain.model == settings.model else ClaimsJudge
    return kind(plain, rubric, open_client(plain, purse, store))


class JuryJudge(Judge):
    """Sample → a verdict of each member → their weighted mean."""

    def __init__(
        self, settings: Settings, models: Sequence[VlmJudge | ClaimsJudge], measured: EvidenceJudge | None
    ) -> None:
        self.settings, self.models, self.evidence, self.rubric = settings, models, measured, models[0].rubric
        self.members: list[VlmJudge | ClaimsJudge | EvidenceJudge] = [*models, *([measured] if measured else [])]
        self.asked = [f"{CLAIMS if isinstance(judge, ClaimsJudge) else ''}{judge.model}" for judge in models]
        self.names = [*self.asked, *([EVIDENCE] if measured else [])]
        if len(set(self.names)) < len(self.names):
            raise UserError("a jury has the same model twice; to ask a model repeatedly, use --set repeats=3")
        self.model = ", ".join(self.asked)
        self.slots = AHEAD * max(judge.slots for judge in models)
        self.bound_by = "model" if any(judge.bound_by == "model" for judge in self.members) else "server"

        # Each model has its own threads, so that none takes those of another, or exceeds its own limit.
        pools = {judge.model: ThreadPoolExecutor(judge.slots, initializer=use_single_core) for judge in self.members}
        self.pools = [pools[judge.model] for judge in self.members]

    @property
    def identity(self) -> Mapping[str, Any]:
        members = dict(zip(self.names, self.members, strict=True))
        about = {
            name: {key: value for key, value in judge.identity.items() if key not in NOT_REPRODUCED}
            for name, judge in members.items()
        }
        weights = dict(zip(self.asked, combining.weights(self.asked, self.settings), strict=True))
        who = {"judge": "jury", "model": self.model, "version": VERSION}
        return {**who, "weights": weights, "members": about}

    def judge(self, sample: Sample) -> Verdict:
        """The verdict by all members that answer; an error if no model does."""
        pending = [
            pool.submit(copy_context().run, attempt, judge.judge, sample)
            for pool, judge in zip(self.pools, self.members, strict=True)
        ]
        return self.combine([future.result() for future in pending])

    def combine(self, results: Sequence[Result]) -> Verdict:
        """What the members' results come to."""
        by_name = dict(zip(self.names, map(usable, results), strict=True))
        verdicts = {name: result for name, result in by_name.items() if isinstance(result, Verdict)}
        if not verdicts.keys() - {EVIDENCE}:
            raise no_model_answered(by_name)
        measured = verdicts.get(EVIDENCE)
        voices = combining.with_shares([statement(name, result) for name, result in by_name.items()], self.settings)
        value, spread = combining.mean_value(voices), combining.spread(voices)
        closest = verdicts[combining.nearest(voices, value).name]
        flags = {
            Flag.MODEL_FAILED: any(isinstance(result, BackendError) for result in by_name.values()),
            Flag.MODEL_UNREADABLE: any(isinstance(result, UnreadableAnswer) for result in by_name.values()),
            Flag.USAGE_ESTIMATED: any(Flag.USAGE_ESTIMATED in verdict.flags for verdict in verdicts.values()),
            Flag.JUDGES_DISAGREE: spread is not None and spread > DISAGREEMENT,
        }
        return replace(
            measured or closest,
            judge="jury",
            value=value,
            factors=combining.mean_factors(voices, self.rubric),
            summary=closest.summary,
            flags=tuple(flag for flag, holds in flags.items() if holds),
            measures={**(measured or closest).measures, "spread": spread},
            answers=tuple(answer for result in results for answer in getattr(result, "answers", ())),
            provenance=self.provenance(verdicts, measured or closest),
            voices=voices,
        )

    def provenance(self, verdicts: Mapping[str, Verdict], main: Verdict) -> dict[str, Any]:
        """All that is needed to reproduce a verdict, of each member."""
        members = {
            name: {key: value for key, value in verdict.provenance.items() if key not in NOT_REPRODUCED}
            for name, verdict in verdicts.items()
        }
        chosen = {key: value for key, value in self.settings.model_dump(mode="json").items() if key in SETTINGS}
        settings = {**main.provenance.get("settings", {}), **chosen}
        about = {"judge": "jury", "model": self.model, "settings": settings, "members": members}
        return {**main.provenance, **about}

    def plan(self, samples: Iterable[Callable[[], Sample]]) -> JudgePlan:
        made = list(samples)
        parts = [judge.plan(made)._replace(model=name) for name, judge in zip(self.asked, self.models, strict=True)]
        return total(self.model, parts)._replace(faults=parts[0].faults, parts=parts if len(parts) > 1 else ())

    def spent(self) -> float:
        return self.models[0].spent()  # all models have one purse

    def stop(self) -> None:
        for judge in self.models:
            judge.stop()

    def close(self) -> None:
        for pool in self.pools:
            pool.shutdown(cancel_futures=True)
        for judge in self.members:
            judge.close()


def attempt(method: Callable[[Sample], Any], sample: Sample) -> Any:
    """What a member says, or why it can't: only errors that leave the others standing."""
    try:
        return method(sample)
    except (BackendError, UnreadableAnswer) as error:
        if isinstance(error, BudgetSpent) or (isinstance(error, ServerTrouble) and error.kind == "stopped"):
            raise
        return error


def statement(name: str, result: Result) -> Voice:
    """What a member says; evidence without any check or estimate says nothing."""
    if isinstance(result, OnpromptError):
        return Voice(name, error=str(result))
    if name == EVIDENCE and is_placeholder(result):
        return Voice(name, factors=result.factors, summary=result.summary, flags=result.flags, error=NOTHING_CHECKED)
    return Voice(name, 0.0, result.value, result.factors, result.summary, result.flags)


def usable(result: Result) -> Result:
    """A result, or why it says nothing: a model can't be asked claim by claim about a prompt without claims."""
    empty = isinstance(result, Verdict) and result.judge != EVIDENCE and is_placeholder(result)
    return PromptError(NOTHING_CHECKED) if empty else result


def is_placeholder(verdict: Verdict) -> bool:
    """Whether evidence has nothing to say: nothing could be checked, and nothing was estimated."""
    return Flag.NOT_VERIFIABLE in verdict.flags and not any(check.source == MATCHER for check in verdict.checks)


def total(model: str, plans: Sequence[JudgePlan]) -> JudgePlan:
    """What several plans come to; without the price of one model, that of all is not known."""
    usage = sum((plan.usage for plan in plans), Usage())
    if any(plan.usage.cost is None for plan in plans):
        usage = replace(usage, cost=None)
    return JudgePlan(model, sum(plan.calls for plan in plans), sum(plan.known for plan in plans), usage)


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
    return error
