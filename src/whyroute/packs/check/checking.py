"""Checking a pack: every check, and the comments that silence what they find."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime

from ...model.timestamps import Moment, given_time, moment_of, read_moment
from ..load.loading import load_pack
from ..load.pack import Pack
from ..source.problems import PackError
from .caps import idle_caps
from .comments import Ignore, ignores_in, silenced
from .coverage import untested
from .deceptive import deceptive_text
from .findings import Finding, found
from .impossible import impossible_conditions
from .lists import empty_lists, overlapping_lists
from .models import long_outputs, mismatched_regions, prices_per_million
from .names import ambiguous_models, unmatched_names
from .preferences import idle_preferences
from .rejections import idle_and_blanket_rules, redundant_rules, unknown_facts, verdicts
from .survey import Survey
from .tenants import unroutable_tenants
from .unused import unused_conditions, unused_rules
from .waivers import ending_waivers
from .whens import impossible_whens, unknown_kinds

__all__ = ["check_pack"]


def check_pack(
    pack: Pack | str | os.PathLike[str], *, at: datetime | str | None = None, now: datetime | str | None = None
) -> tuple[Finding, ...]:
    """Look for what is wrong in a rule pack, or likely is.

    Checking takes about as long as loading.

    Args:
        pack: A pack, or a file or a directory as `load_pack` takes it.
        at: The time that dates are held against: as on the wire, or with its zone; the present when absent.
        now: What `at` was called before; give one of them.

    Returns:
        All findings by file, line and column, those that comments silence among them. Where the pack can't be loaded,
        they are what keeps it from being loaded.

    Raises:
        UnreadableFileError: The path is not there.
        ValueError: The time is none.
    """
    moment = _moment(given_time(at, now))
    if not isinstance(pack, Pack):
        try:
            pack = load_pack(pack)
        except PackError as error:
            return tuple(found("invalid-pack", each.place, each.message, each.also) for each in error.problems)
    ignores: list[Ignore] = []
    told: list[Finding] = []
    for source in pack.sources:
        of_file, broken = ignores_in(source)
        ignores += of_file
        told += [*broken, *deceptive_text(source)]
    told += silenced(dict.fromkeys(_checked(Survey(pack, moment))), ignores)
    return tuple(sorted(told, key=lambda finding: finding.order))


def _checked(survey: Survey) -> Iterator[Finding]:
    about_whens = [*unknown_kinds(survey), *impossible_whens(survey)]
    about_conditions = [*unmatched_names(survey), *impossible_conditions(survey), *about_whens]
    yield from about_conditions
    yield from ambiguous_models(survey)
    yield from overlapping_lists(survey)
    yield from empty_lists(survey)
    yield from idle_caps(survey)
    yield from unused_rules(survey)
    yield from unused_conditions(survey)
    explained = frozenset(name for each in about_conditions for name in each.rules)
    judged = verdicts(survey)
    yield from idle_and_blanket_rules(survey, judged, explained)
    yield from idle_preferences(survey, explained)
    yield from redundant_rules(survey, judged)
    yield from unknown_facts(survey)
    yield from unroutable_tenants(survey)
    yield from prices_per_million(survey)
    yield from long_outputs(survey)
    yield from mismatched_regions(survey)
    yield from ending_waivers(survey)
    yield from untested(survey, frozenset(name for each in about_whens for name in each.rules))


def _moment(now: datetime | str | None) -> Moment:
    if isinstance(now, str):
        return read_moment(now)
    return moment_of(now or datetime.now(UTC))
