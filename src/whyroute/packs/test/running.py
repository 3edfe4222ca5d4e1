"""Running the tests of a pack: every tenant with every capability, or the bundle, is a case with its own result."""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from ...basics.issues import did_you_mean, shown
from ...catalog.catalog import Catalog
from ...errors import InvalidRequestError, WhyrouteError
from ...model.capability import Capability, read_capability
from ...model.provider import DeclaredProvider
from ...model.request_facts import fact_issues
from ...model.timestamps import given_time, written
from ...solving.request import Solved
from ..load.definitions import Definition
from ..load.loading import load_pack
from ..load.models import PackTest
from ..load.pack import Pack, chosen
from ..source.problems import Place
from .coverage import Coverage, Gatherer
from .expectations import Judge, Mismatch

if TYPE_CHECKING:
    from ...solving.joint import JointSolved

__all__ = ["Case", "CaseResult", "NoTestsError", "Results", "run_tests"]


class NoTestsError(WhyrouteError):
    """There is no test to run.

    Attributes:
        pack: What was loaded.
        match: The text that no test's name has in it; None when the pack has no tests.
        known: The names of the tests that there are.
        about: The tenant and the capability that no case is about, in words; None: all that were asked for.
    """

    code: ClassVar[str] = "no-tests"

    def __init__(
        self, pack: str, match: str | None = None, known: Iterable[str] = (), about: str | None = None
    ) -> None:
        self.pack = pack
        self.match = match
        self.known = tuple(known)
        self.about = about
        if about is not None:
            why = f"no case to run: {about}"
        elif match is None or not self.known:
            why = f"{shown(pack)} has no tests; write some under `tests:`"
        else:
            near = did_you_mean(match, self.known) or f"; there are {len(self.known)}, such as {shown(self.known[0])}"
            why = f"no test of {shown(pack)} has {shown(match)} in its name{near}"
        super().__init__(why)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.pack, self.match, self.known, self.about)


@dataclass(frozen=True, slots=True)
class Case:
    """One combination of a test.

    Attributes:
        test: The test.
        tenant: The tenant.
        capability: The name of the capability; None where the test declares one itself, or is of a bundle.
        bundle: The name of the bundle; None where the test is of a capability.
    """

    test: Definition[PackTest]
    tenant: str
    capability: str | None
    bundle: str | None = None

    @property
    def place(self) -> Place:
        """Where the test is written."""
        return self.test.place()


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What a case came to.

    Attributes:
        case: The case.
        at: The time of its request.
        mismatches: The keys of `expect` that do not hold.
        problem: Why there is no such request, such as a label that the capability fixes otherwise; None when there is.
        said_nothing: Whether `every` held for want of candidates: nothing qualifies.
        seconds: How long it took.
        solved: The request, compiled and solved; kept only where something does not hold.
    """

    case: Case
    at: str
    mismatches: tuple[Mismatch, ...] = ()
    problem: str | None = None
    said_nothing: bool = False
    seconds: float = 0.0
    solved: "Solved | JointSolved | None" = field(default=None, repr=False, compare=False)

    @property
    def passed(self) -> bool:
        """Whether everything that the test expects holds."""
        return not self.mismatches and self.problem is None


@dataclass(frozen=True, slots=True)
class Results:
    """What the tests of a pack came to.

    Attributes:
        pack: The pack.
        cases: The results, in the order of the tests, tenants and capabilities.
        seconds: How long it took.
        left_out: How many cases were not run, because the run stopped at a failure.
        coverage: What the cases reached, where that was asked for.
    """

    pack: Pack = field(repr=False)
    cases: tuple[CaseResult, ...]
    seconds: float
    left_out: int = 0
    coverage: Coverage | None = None

    @property
    def failures(self) -> tuple[CaseResult, ...]:
        """The cases that failed."""
        return tuple(each for each in self.cases if not each.passed)

    @property
    def passed(self) -> bool:
        """Whether every case passed."""
        return all(each.passed for each in self.cases)

    @property
    def tests(self) -> tuple[str, ...]:
        """The names of the tests that ran."""
        return tuple(dict.fromkeys(each.case.test.name for each in self.cases))


def run_tests(
    pack: Pack | str | os.PathLike[str],
    *,
    at: datetime | str | None = None,
    now: datetime | str | None = None,
    match: str | None = None,
    tenant: str | None = None,
    capability: str | None = None,
    fail_fast: bool = False,
    coverage: bool = False,
    told: Callable[[CaseResult, int], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Results:
    """Run the tests of a pack.

    The answers are those of `Pack.resolve`. Requests that are the same are solved once, and of each only what the
    test expects is worked out. A test stands for the operator too: it may set labels that are `from: operator`.

    Args:
        pack: A pack, or a file or a directory as `load_pack` takes it.
        at: The time of tests that have none: as on the wire, or with its zone; the present when absent.
        now: What `at` was called before; give one of them.
        match: Run the tests that have this in their name, whatever the case.
        tenant: Run their cases of this tenant alone.
        capability: Run their cases of this capability of the pack alone.
        fail_fast: Stop at the first case that fails.
        coverage: Gather what the cases reach, too; about twice the time.
        told: Called with each result and the number of all cases, as they come.
        clock: What time is taken from, in seconds.

    Raises:
        NoTestsError: The pack has no tests, or none that matches.
        InvalidRequestError: `at` is no time.
        UnreadableFileError: The path is not there.
        PackError: The pack is broken.
    """
    given = given_time(at, now) or datetime.now(UTC)
    written_at = written(given) if isinstance(given, datetime) else given
    issues = fact_issues({"at": written_at})
    if issues:
        raise InvalidRequestError(issues)
    if not isinstance(pack, Pack):
        pack = load_pack(pack)
    wanted = None if match is None else match.casefold()
    tests = [each for each in pack.tests.values() if wanted is None or wanted in each.name.casefold()]
    if not tests:
        raise NoTestsError(pack.path, match if pack.tests else None, pack.tests)
    cases = [
        case
        for test in tests
        for case in _cases(pack, test)
        if tenant in (None, case.tenant) and capability in (None, case.capability)
    ]
    if not cases and (tenant is not None or capability is not None):
        raise NoTestsError(pack.path, about=_about(pack, tenant, capability))
    begun = clock()
    runner = _Runner(pack, written_at, Gatherer(pack) if coverage else None)
    runner.expect(cases)
    found: list[CaseResult] = []
    before = begun
    for case in cases:
        result = runner.run(case, before, clock)
        before += result.seconds
        found.append(result)
        if told is not None:
            told(result, len(cases))
        if fail_fast and not result.passed:
            break
    gathered = None if runner.gatherer is None else runner.gatherer.coverage()
    return Results(pack, tuple(found), before - begun, len(cases) - len(found), gathered)


def _about(pack: Pack, tenant: str | None, capability: str | None) -> str:
    """The tenants that no case is about, and those that may be meant."""
    asked = (("tenant", tenant, pack.tenants), ("capability", capability, pack.capabilities))
    unknown = [
        f"{shown(name)} is no {what} of the pack{did_you_mean(name, known)}"
        for what, name, known in asked
        if name is not None and name not in known
    ]
    return "; ".join(unknown) or "no test is about " + " and ".join(
        f"{what} {shown(name)}" for what, name, _ in asked if name is not None
    )


def _cases(pack: Pack, test: Definition[PackTest]) -> Iterator[Case]:
    tenants = chosen(test.value.tenant, pack.tenants)
    if test.value.bundle is not None:
        return (Case(test, tenant, None, test.value.bundle) for tenant in tenants)
    capability = test.value.capability
    # A declaration has no name.
    names = chosen(capability, pack.capabilities) if isinstance(capability, str | tuple) else (None,)
    return (Case(test, tenant, name) for tenant in tenants for name in names)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A test, with what all of its cases share.

    Attributes:
        at: The time of its requests.
        options: What else `Pack.resolve` takes for them.
        declared: The capability that it declares itself.
        key: What tells its requests from those of another test, beside tenant and capability.
    """

    at: str
    options: dict[str, Any]
    declared: Capability | None
    key: tuple[Any, ...]


_Answer = tuple["Solved | JointSolved | None", str | None, frozenset[tuple[str, ...]]]
"""A request, solved, or why there is none, and what it reaches."""


class _Runner:
    """Runs cases one after the other; what they share is made once."""

    def __init__(self, pack: Pack, now: str, gatherer: Gatherer | None) -> None:
        self.gatherer = gatherer
        self._pack = pack
        self._now = now
        self._judge = Judge(pack)
        self._prepared: dict[str, _Prepared] = {}
        self._waiting: Counter[tuple[Any, ...]] = Counter()
        self._answers: dict[tuple[Any, ...], _Answer] = {}

    def expect(self, cases: Iterable[Case]) -> None:
        """Say which cases will be run, so that the answer to a request is kept until its last one."""
        self._waiting.update(self._key(case) for case in cases)

    def _key(self, case: Case) -> tuple[Any, ...]:
        return case.tenant, case.capability, case.bundle, self._of(case.test).key

    def _of(self, test: Definition[PackTest]) -> _Prepared:
        found = self._prepared.get(test.name)
        if found is None:
            found = self._prepared[test.name] = self._prepare(test.name, test.value)
        return found

    def run(self, case: Case, begun: float, clock: Callable[[], float]) -> CaseResult:
        expect = case.test.value.expect
        prepared = self._of(case.test)
        solved, problem, reached = self._shared(case, prepared)
        if solved is None:
            return CaseResult(case, prepared.at, problem=problem, seconds=clock() - begun)
        silent = False
        if isinstance(solved, Solved):
            wrong = self._judge.mismatches(expect, solved)
            silent = self._judge.said_nothing(expect, solved)
            if self.gatherer is not None and (every := self._judge.condition(expect)) is not None:
                reached |= self.gatherer.decided(every, solved)
        else:
            from .bundles import bundle_mismatches  # noqa: PLC0415 (takes long to load; few packs have bundles)

            wrong = bundle_mismatches(expect, solved, self._judge)
        if self.gatherer is not None:
            self.gatherer.count(reached)
        return CaseResult(case, prepared.at, wrong, None, silent, clock() - begun, solved if wrong else None)

    def _prepare(self, name: str, test: PackTest) -> _Prepared:
        labels, operator = self._pack.split_labels(test.labels)
        at = self._now if test.at is None else test.at
        catalog = declared = None
        if test.providers is not None:
            catalog = Catalog.of_members((DeclaredProvider(each), each) for each in test.providers)
        text = None
        if isinstance(test.capability, Mapping):
            declared = read_capability(test.capability)
            text = json.dumps(declared.to_dict(), sort_keys=True)
        own = None if catalog is None else name
        key = tuple(sorted(test.labels.items())), at, own, text
        options = {"labels": labels, "operator_labels": operator, "at": at, "catalog": catalog}
        return _Prepared(at, options, declared, key)

    def _shared(self, case: Case, prepared: _Prepared) -> _Answer:
        """What the request of a case comes to, which others may have too."""
        key = self._key(case)
        found = self._answers.pop(key, None)
        if found is None:
            found = self._answer(case, prepared)
        self._waiting[key] -= 1
        if self._waiting[key] > 0:
            self._answers[key] = found
        return found

    def _answer(self, case: Case, prepared: _Prepared) -> _Answer:
        try:
            solved = self._solved(case, prepared)
        except InvalidRequestError as error:
            return None, "; ".join(map(str, error.issues)), frozenset()
        if self.gatherer is None:
            return solved, None, frozenset()
        slots = (solved,) if isinstance(solved, Solved) else solved.slots
        return solved, None, frozenset().union(*map(self.gatherer.reached, slots))

    def _solved(self, case: Case, prepared: _Prepared) -> "Solved | JointSolved":
        if case.bundle is not None:
            return self._pack.resolve_bundle(case.tenant, case.bundle, **prepared.options).read().solve()
        capability: str | Capability | None = prepared.declared if case.capability is None else case.capability
        assert capability is not None  # the test declares it where the case has no name for it
        return self._pack.resolve(case.tenant, capability, **prepared.options).read().solve()
