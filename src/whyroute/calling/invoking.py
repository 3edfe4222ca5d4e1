"""One call over the candidates of a decision: the pick, then the alternates, within the budget of the capability."""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ..basics.issues import kind_of, shown
from ..catalog.candidate import Candidate
from ..errors import BudgetExceededError, BudgetLimit, WhyrouteError
from ..model.calls import ModelCallDelta, ModelCallInput, ModelCallResult
from ..model.capability import Budget
from ..routing.decision import Decision

__all__ = ["Attempt", "InvocationError", "Outcome", "RetryOn", "invoke", "stream"]

RetryOn = Callable[[Exception], bool]
"""Whether an error of a provider is transient, so that the next candidate may be asked."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One candidate that was called.

    Attributes:
        candidate: The candidate.
        error: What its provider raised; None where it answered.
        duration_ms: How long it took, in milliseconds.

    Example:
        >>> import asyncio
        >>> import whyroute as wr
        >>> registry = wr.ProviderRegistry([("acme", wr.EchoProvider("echo"))])
        >>> router = wr.Router(policies={"acme": {"tenantId": "acme"}}, registry=registry)
        >>> call = wr.ModelCallInput(model="any", messages=[])
        >>> (attempt,) = asyncio.run(router.invoke("acme", {"needs": []}, call)).attempts
        >>> attempt.candidate.key, attempt.error
        (('echo', 'echo'), None)
    """

    candidate: Candidate
    error: Exception | None
    duration_ms: float

    def to_dict(self) -> dict[str, Any]:
        """The attempt for a log: of an error only its type, for its message may hold a secret."""
        found = {**self.candidate.to_dict(), "durationMs": self.duration_ms}
        return found if self.error is None else {**found, "error": type(self.error).__name__}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call came to.

    Attributes:
        result: The answer of the last attempt.
        decision: The decision whose candidates were called.
        attempts: Every candidate that was called, in order.

    Example:
        >>> import asyncio
        >>> import whyroute as wr
        >>> registry = wr.ProviderRegistry([("acme", wr.EchoProvider("echo"))])
        >>> router = wr.Router(policies={"acme": {"tenantId": "acme"}}, registry=registry)
        >>> call = wr.ModelCallInput(model="any", messages=[wr.ModelMessage(role="user", content="hello")])
        >>> outcome = asyncio.run(router.invoke("acme", {"needs": []}, call))
        >>> outcome.result.message.content, outcome.decision.model.name, len(outcome.attempts)
        ('hello', 'echo', 1)
    """

    result: ModelCallResult
    decision: Decision = field(repr=False)
    attempts: tuple[Attempt, ...]


class InvocationError(WhyrouteError):
    """No candidate answered, or one failed in a way that is not transient; `__cause__` is what it raised.

    Attributes:
        decision: The decision whose candidates were called.
        attempts: Every candidate that was called, in order.

    Example:
        >>> import asyncio
        >>> import whyroute as wr
        >>> declared = wr.DeclaredProvider(wr.EchoProvider("echo").metadata)
        >>> registry = wr.ProviderRegistry([("acme", declared)])
        >>> router = wr.Router(policies={"acme": {"tenantId": "acme"}}, registry=registry)
        >>> try:
        ...     asyncio.run(router.invoke("acme", {"needs": []}, wr.ModelCallInput(model="any", messages=[])))
        ... except wr.InvocationError as error:
        ...     print(error)
        no candidate answered; failed: `echo` / `echo` with NotInvocableError
    """

    code = "invocation-failed"

    def __init__(self, decision: Decision, attempts: tuple[Attempt, ...]) -> None:
        self.decision = decision
        self.attempts = attempts
        failed = ", ".join(
            f"{shown(each.candidate.metadata.id)} / {shown(each.candidate.model.name)} with {type(each.error).__name__}"
            for each in attempts
        )
        super().__init__(f"no candidate answered; failed: {failed}")

    def __reduce__(self) -> tuple[Any, ...]:
        # As with decisions, providers stay behind; so do their errors, which may not travel.
        return _unpickled, (self.decision, [(each.candidate.key, each.duration_ms) for each in self.attempts])

    def to_dict(self) -> dict[str, Any]:
        """The error as it goes over the wire."""
        return {**super().to_dict(), "attempts": [each.to_dict() for each in self.attempts]}


def _unpickled(decision: Decision, attempts: list[tuple[tuple[str, str], float]]) -> InvocationError:
    known = {candidate.key: candidate for candidate in _candidates(decision)}
    error = RuntimeError("the error stayed in the process that raised it")
    return InvocationError(decision, tuple(Attempt(known[key], error, duration) for key, duration in attempts))


def _candidates(decision: Decision) -> Iterator[Candidate]:
    return chain((decision.candidate,), decision.alternates)


async def invoke(
    decision: Decision, budget: Budget | None, call: ModelCallInput, retry_on: RetryOn | None = None
) -> Outcome:
    """Call the pick, then the alternates as long as errors are transient.

    Args:
        decision: The decision.
        budget: What one call may use, checked where the result says what it used.
        call: The call; its model is replaced by that of each candidate.
        retry_on: Which errors are transient; None: none is.

    Raises:
        InvocationError: No candidate answered.
        BudgetExceededError: The answer used more than the budget; `outcome` has it all the same.
    """
    async for item in _run(decision, budget, call, retry_on, streaming=False):
        if isinstance(item, Outcome):
            return item
    raise AssertionError("a run ends with its outcome")


def stream(
    decision: Decision, budget: Budget | None, call: ModelCallInput, retry_on: RetryOn | None = None
) -> AsyncIterator[ModelCallDelta | Outcome]:
    """`invoke` piece by piece, the outcome last. Once a piece was given, no other candidate is asked.

    A provider without `stream` is invoked, and gives no pieces.
    """
    return _run(decision, budget, call, retry_on, streaming=True)


async def _run(
    decision: Decision, budget: Budget | None, call: ModelCallInput, retry_on: RetryOn | None, *, streaming: bool
) -> AsyncIterator[ModelCallDelta | Outcome]:
    attempts: list[Attempt] = []
    for candidate in _candidates(decision):
        started = time.perf_counter()
        begun = False
        try:
            result: ModelCallResult | None = None
            async for item in _called(candidate, call, streaming=streaming):
                if isinstance(item, ModelCallResult):
                    result = item
                    break
                begun = True
                yield item
            if result is None:
                raise TypeError(f"provider {shown(candidate.metadata.id)} ended its stream without a result")
        except Exception as error:
            attempts.append(Attempt(candidate, error, _milliseconds(started)))
            if begun or retry_on is None or not retry_on(error):
                raise InvocationError(decision, tuple(attempts)) from error
            continue
        attempts.append(Attempt(candidate, None, _milliseconds(started)))
        outcome = Outcome(result, decision, tuple(attempts))
        _check(budget, outcome)
        yield outcome
        return
    raise InvocationError(decision, tuple(attempts)) from attempts[-1].error


async def _called(
    candidate: Candidate, call: ModelCallInput, *, streaming: bool
) -> AsyncIterator[ModelCallDelta | ModelCallResult]:
    asked = call.model_copy(update={"model": candidate.model.name})
    streamed = getattr(candidate.provider, "stream", None) if streaming else None
    if streamed is None:
        result = await candidate.provider.invoke(asked)
        if not isinstance(result, ModelCallResult):
            answered = f"provider {shown(candidate.metadata.id)} answered with {kind_of(result)}"
            raise TypeError(f"{answered}; a ModelCallResult is expected")
        yield result
        return
    async for item in streamed(asked):
        yield item


def _milliseconds(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _check(budget: Budget | None, outcome: Outcome) -> None:
    if budget is None:
        return
    result = outcome.result
    used = (
        (BudgetLimit("cost", budget.max_cost_usd), result.cost_usd) if budget.max_cost_usd is not None else None,
        (BudgetLimit("tokens", budget.max_tokens), result.usage.prompt_tokens + result.usage.completion_tokens)
        if budget.max_tokens is not None
        else None,
        (BudgetLimit("duration", budget.max_duration_ms), result.duration_ms)
        if budget.max_duration_ms is not None
        else None,
    )
    for each in used:
        if each is not None and each[1] > each[0].value:
            error = BudgetExceededError(*each)
            error.outcome = outcome
            raise error
