"""Candidates as they are named on the command line."""

import shlex

from ..basics.issues import shown
from ..catalog.catalog import Catalog
from .output import CommandError

__all__ = ["candidate_named"]


def candidate_named(
    catalog: Catalog, text: str | None, provider_id: str | None, model_name: str | None
) -> tuple[str, str] | None:
    """The (provider id, model name) that the options of `--why-not` name; None when none was given.

    `PROVIDER/MODEL` splits wherever that yields a candidate of the catalog, since ids and names may contain `/`.
    Where it yields none, it splits at the first one. `PROVIDER / MODEL`, as answers have it, with or without backticks,
    is read as well.

    Raises:
        CommandError: The text is ambiguous, or the options don't go together.
    """
    if (provider_id is None) != (model_name is None):
        raise CommandError("--why-not-provider and --why-not-model go together")
    if provider_id is not None and model_name is not None:
        if text is not None:
            raise CommandError(
                "--why-not names the candidate already; leave out --why-not-provider and --why-not-model"
            )
        return provider_id, model_name
    if text is None:
        return None
    places = [at for at, character in enumerate(text) if character == "/"]
    if not places:
        raise CommandError(f"{shown(text)} names no candidate; write PROVIDER/MODEL")
    readings = [(text[:at], text[at + 1 :]) for at in places]
    known = [reading for reading in readings if catalog.number_of(*reading) is not None]
    if not known:
        readings = [(_as_printed(provider), _as_printed(model)) for provider, model in readings]
        known = [reading for reading in readings if catalog.number_of(*reading) is not None]
    if len(known) > 1:
        listed = " or ".join(shlex.join(["--why-not-provider", one, "--why-not-model", other]) for one, other in known)
        raise CommandError(f"{shown(text)} is ambiguous; write {listed}")
    return known[0] if known else readings[0]


def _as_printed(name: str) -> str:
    """A name that was copied from an answer, without what stands around it there."""
    name = name.strip()
    return name[1:-1] if len(name) > 2 and name[0] == name[-1] == "`" else name
