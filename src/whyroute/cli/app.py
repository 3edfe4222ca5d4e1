"""The commands."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Optional

import typer

from .. import __version__
from ..basics.issues import shown
from ..documents.json_text import is_unicode
from .completion import capabilities, labels, tenants
from .output import CommandError, complain, print_json, print_json_text, print_lines, print_text, remark, settled
from .usage import Command, examples

__all__ = ["app"]

app = typer.Typer(
    name="whyroute",
    help="Pick the (provider, model) pair that serves a capability under a tenant's policy, and say why.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Format(StrEnum):
    """How an answer is printed."""

    text = "text"
    json = "json"
    html = "html"
    dot = "dot"
    mermaid = "mermaid"
    graphml = "graphml"


class DataFormat(StrEnum):
    """How data is written."""

    yaml = "yaml"
    json = "json"


class EngineChoice(StrEnum):
    """Which engine solves."""

    bitset = "bitset"
    plain = "plain"


class Source(StrEnum):
    """Whose catalog is imported."""

    models_dev = "models-dev"
    litellm = "litellm"
    openrouter = "openrouter"


class SchemaName(StrEnum):
    """Which JSON Schema is printed."""

    capability = "capability"
    request = "request"
    answer = "answer"
    pack = "pack"
    bundle = "bundle"


class TextOrJson(StrEnum):
    """How something is printed that is no explanation."""

    text = "text"
    json = "json"


class BundleFormat(StrEnum):
    """How a bundle is printed."""

    text = "text"
    json = "json"
    html = "html"


class TestFormat(StrEnum):
    """How the results of tests are printed."""

    text = "text"
    json = "json"
    junit = "junit"


class DiffFormat(StrEnum):
    """How a comparison is printed."""

    text = "text"
    json = "json"
    markdown = "markdown"


class Difference(StrEnum):
    """What makes a comparison fail."""

    looser = "looser"
    broken = "broken"
    any = "any"


def _text(value: Any) -> Any:
    """Refuse what is no text; names of files may be any bytes."""
    for text in (value,) if isinstance(value, str) else value or ():
        if not text.isascii() and not is_unicode(text):
            raise typer.BadParameter(f"{shown(text)} is not valid UTF-8")
    return value


def _name(value: Any) -> Any:
    """Likewise, and refuse an empty name."""
    if value == "":
        raise typer.BadParameter("an empty name")
    return _text(value)


def _text_or_file(value: Any) -> Any:
    if value is None or not value.startswith("@"):
        return _text(value)
    _file(value[1:])
    return value


def _file(value: Any) -> Any:
    """Refuse an empty name of a file; to the system's own functions it is the current directory."""
    if value == "":
        raise typer.BadParameter("an empty path; name a file")
    return value


def _pack(value: Any) -> Any:
    """Likewise, of a pack."""
    if value == "":
        raise typer.BadParameter("an empty path; name a rule pack: `.` is the current directory")
    return value


def _path(text: str) -> Path:
    return Path(_file(text))


RequestOption = Annotated[
    Optional[str],  # noqa: UP045 (typer reads the annotation at run time)
    typer.Option(
        "--request", "-r", metavar="FILE|-", help="One wire request as JSON; - is standard input.", callback=_file
    ),
]
PackArgument = Annotated[
    Optional[str],  # noqa: UP045
    typer.Argument(metavar="PACK", help="A rule pack: a directory of YAML files, or one file.", callback=_pack),
]
RequiredPackArgument = Annotated[
    str,
    typer.Argument(metavar="PACK", help="A rule pack: a directory of YAML files, or one file.", callback=_pack),
]
TenantOption = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--tenant",
        "-t",
        metavar="T",
        help="Whose policy holds; goes with PACK.",
        callback=_text,
        autocompletion=tenants,
    ),
]
CapabilityOption = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--capability",
        "-c",
        metavar="NAME|@FILE",
        help="A capability of the pack, or a file with a declaration; goes with PACK.",
        callback=_text_or_file,
        autocompletion=capabilities,
    ),
]
LabelOption = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--label",
        metavar="KEY=VALUE",
        help="What the request says of itself; may be repeated.",
        callback=_text,
        autocompletion=labels,
    ),
]
AtOption = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--at", metavar="TIME", help="A date, or a date and time with its zone; default: now.", callback=_text
    ),
]
PreferProviderOption = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--prefer-provider", metavar="P", help="A hint: this provider's candidates come first.", callback=_text
    ),
]
PreferModelOption = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--prefer-model", metavar="M", help="A hint: candidates of this model name come first.", callback=_text
    ),
]
ProvidersOption = Annotated[
    Optional[str],  # noqa: UP045 (typer reads the annotation at run time)
    typer.Option(
        "--providers",
        metavar="FILE",
        help="A catalog (YAML or JSON) for a request that has no providers.",
        callback=_file,
    ),
]
FormatOption = Annotated[
    Format, typer.Option("--format", "-f", help="How the answer is printed; html is a page that needs nothing else.")
]
OutputOption = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write the answer to a file instead of standard output.", parser=_path
    ),
]
AllOption = Annotated[
    bool,
    typer.Option("--all", help="Everything, however long; otherwise text is 25 lines, and a graph has 40 candidates."),
]
_GRAPH_CANDIDATES = 40
EngineOption = Annotated[
    EngineChoice,
    typer.Option("--engine", help="bitset, or plain: the solver library's own search, slower by far."),
]


def _version(wanted: bool) -> None:
    if wanted:
        print_text(f"whyroute {__version__}\n")
        raise typer.Exit


@app.callback()
def whyroute(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Pick the (provider, model) pair that serves a capability under a tenant's policy, and say why."""


@app.command(
    short_help="Route one request: the pick, or why there is none.",
    cls=Command,
    epilog=examples(
        "whyroute route rules --tenant elbe-clinics --capability summarise",
        "whyroute route --request request.json --format json",
    ),
)
def route(
    pack: PackArgument = None,
    tenant: TenantOption = None,
    capability: CapabilityOption = None,
    label: LabelOption = None,
    at: AtOption = None,
    prefer_provider: PreferProviderOption = None,
    prefer_model: PreferModelOption = None,
    request: RequestOption = None,
    providers: ProvidersOption = None,
    format: FormatOption = Format.text,
    everything: AllOption = False,
    output: OutputOption = None,
    engine: EngineOption = EngineChoice.bitset,
) -> None:
    """Route one request, under a rule pack or as a wire request: the pick, why, and the alternates.

    Exit status 0 when a candidate qualifies, 1 when none does, 2 when the request is unusable.
    """
    from ..explanations import Explanation  # noqa: PLC0415
    from ..render import decision_lines  # noqa: PLC0415
    from ..routing.decision import Decision, outcome_of  # noqa: PLC0415

    parsed = _read(
        Asked(pack, tenant, capability, label or [], at, prefer_provider, prefer_model, request, providers),
        format,
        output,
    )
    if format is Format.json:
        qualifies, pieces = parsed.answer_json(engine.value)
        with settled(0 if qualifies else 1):
            print_json_text(pieces, output)
    solved = parsed.solve(engine.value)
    outcome = outcome_of(solved)
    with settled(0 if isinstance(outcome, Decision) else 1):
        if format is Format.text and isinstance(outcome, Decision):
            print_lines(decision_lines(outcome), output)
        else:
            explanation = Explanation(solved, limits=_limits(everything=everything))
            _print_explanation(explanation, format, output, everything=everything)


@app.command(
    short_help="Explain one request: why, why not, what to change.",
    cls=Command,
    epilog=examples(
        "whyroute explain rules --tenant elbe-clinics --capability summarise",
        "whyroute explain rules -t elbe-clinics -c summarise --why-not PROVIDER/MODEL",
    ),
)
def explain(
    pack: PackArgument = None,
    tenant: TenantOption = None,
    capability: CapabilityOption = None,
    label: LabelOption = None,
    at: AtOption = None,
    prefer_provider: PreferProviderOption = None,
    prefer_model: PreferModelOption = None,
    request: RequestOption = None,
    providers: ProvidersOption = None,
    why_not: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--why-not", metavar="PROVIDER/MODEL", help="A candidate to compare with the pick.", callback=_text
        ),
    ] = None,
    why_not_provider: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--why-not-provider", metavar="P", help="Its provider, where PROVIDER/MODEL is ambiguous.", callback=_text
        ),
    ] = None,
    why_not_model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--why-not-model", metavar="M", help="Its model; goes with --why-not-provider.", callback=_text),
    ] = None,
    format: FormatOption = Format.text,
    everything: AllOption = False,
    output: OutputOption = None,
    engine: EngineOption = EngineChoice.bitset,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 when nothing qualifies.")] = False,
) -> None:
    """Explain one request: what clashes, who is nearest, what would have to change and whose move that is.

    Exit status 0, whatever the answer is; 2 when the request is unusable.
    """
    from ..explanations import Explanation  # noqa: PLC0415
    from .candidates import candidate_named  # noqa: PLC0415

    parsed = _read(
        Asked(pack, tenant, capability, label or [], at, prefer_provider, prefer_model, request, providers),
        format,
        output,
    )
    asked = candidate_named(parsed.catalog, why_not, why_not_provider, why_not_model) or parsed.why_not
    explanation = Explanation(parsed.solve(engine.value), asked, _limits(everything=everything))
    with settled(1 if exit_code and not explanation.satisfiable else 0):
        _print_explanation(explanation, format, output, everything=everything)


def _limits(*, everything: bool) -> Any:
    from ..explanations import Limits  # noqa: PLC0415

    return Limits(near_misses=None, unknowns=None, ranking=None) if everything else Limits()


def _print_explanation(
    explanation: Any,
    format: Format,
    output: Path | None,
    *,
    everything: bool,
) -> None:
    from ..render import explanation_lines  # noqa: PLC0415
    from ..render.graphs import to_dot, to_graphml, to_mermaid  # noqa: PLC0415

    graph_limit = None if everything else _GRAPH_CANDIDATES
    match format:
        case Format.json:
            print_json_text(explanation.iter_json(), output)
        case Format.html:
            from ..render.page import explanation_page  # noqa: PLC0415

            print_text(explanation_page(explanation), output)
        case Format.text:
            print_lines(explanation_lines(explanation, everything=everything), output)
        case Format.dot:
            print_text(to_dot(explanation.to_graph(graph_limit)), output)
        case Format.mermaid:
            print_text(to_mermaid(explanation.to_graph(graph_limit)), output)
        case Format.graphml:
            print_text(to_graphml(explanation.to_graph(graph_limit)), output)


class Asked(NamedTuple):
    """The options that say what the request is: those of a pack, or those of a wire request."""

    pack: str | None
    tenant: str | None
    capability: str | None
    labels: list[str]
    at: str | None
    preferred_provider: str | None
    preferred_model: str | None
    request: str | None
    providers: str | None


def _read(asked: Asked, format: Format, output: Path | None) -> Any:
    from ..errors import WhyrouteError  # noqa: PLC0415

    try:
        return _of_pack(asked) if asked.request is None else _of_wire(asked)
    except WhyrouteError as error:
        if format is Format.json:
            with settled(2):
                print_json({"error": error.to_dict()}, output)
        if asked.request is not None:
            raise CommandError(error) from None
        from .packs import in_options  # noqa: PLC0415

        raise CommandError(in_options(error)) from None


def _of_pack(asked: Asked) -> Any:
    from .packs import request_of  # noqa: PLC0415

    if asked.pack is None:
        raise CommandError("PACK or --request is missing: what is to be routed?")
    if asked.providers is not None:
        raise CommandError("--providers goes with --request; a pack has its own providers")
    return request_of(
        asked.pack,
        tenant=asked.tenant,
        capability=asked.capability,
        labels=asked.labels,
        at=asked.at,
        preferred_provider=asked.preferred_provider,
        preferred_model=asked.preferred_model,
    )


def _of_wire(asked: Asked) -> Any:
    from ..wire.request import read_request  # noqa: PLC0415
    from .inputs import request_document  # noqa: PLC0415

    given = {
        "PACK": asked.pack,
        "--tenant": asked.tenant,
        "--capability": asked.capability,
        "--label": asked.labels or None,
        "--at": asked.at,
        "--prefer-provider": asked.preferred_provider,
        "--prefer-model": asked.preferred_model,
    }
    beside = [name for name, value in given.items() if value is not None]
    if beside:
        raise CommandError(f"{', '.join(beside)} beside --request: the request says it all itself")
    return read_request(request_document(str(asked.request), asked.providers))


@app.command(
    short_help="Show the policy in force for a tenant.",
    cls=Command,
    epilog=examples("whyroute show rules --tenant elbe-clinics"),
)
def show(
    pack: RequiredPackArgument,
    tenant: Annotated[
        str,
        typer.Option(
            "--tenant", "-t", metavar="T", help="Whose policy is shown.", callback=_text, autocompletion=tenants
        ),
    ],
    at: AtOption = None,
    format: Annotated[TextOrJson, typer.Option("--format", "-f", help="How it is printed.")] = TextOrJson.text,
    output: OutputOption = None,
) -> None:
    """Show the policy in force for a tenant: clauses, rules, dates and waivers, each with where it comes from.

    Rules and waivers that are not in force at the time are shown too, and marked.
    """
    from ..errors import WhyrouteError  # noqa: PLC0415
    from ..render.packs import policy_document, policy_lines  # noqa: PLC0415
    from .packs import opened, time_of  # noqa: PLC0415

    moment = time_of(at)
    try:
        policy = opened(pack).policy(tenant)
    except WhyrouteError as error:
        raise CommandError(error) from None
    if format is TextOrJson.json:
        print_json(policy_document(policy, moment), output)
    else:
        print_lines(policy_lines(policy, moment), output)


@app.command(cls=Command, epilog=examples("whyroute fmt rules", "whyroute fmt rules --check"))
def fmt(
    pack: Annotated[
        str,
        typer.Argument(
            metavar="PACK|-",
            help="A rule pack; - formats one file from standard input to standard output.",
            callback=_pack,
        ),
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; list the files that would change, and exit with 1 if any.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Change nothing; show what would change.")] = False,
) -> None:
    """Lay out the files of a pack in one way. Comments stay, and so does what every value means.

    A pack that doesn't load is left alone: exit status 2.
    """
    from .fmt import run_fmt  # noqa: PLC0415

    raise typer.Exit(run_fmt(pack, check=check, diff=diff))


@app.command(
    "test",
    short_help="Run the tests of a rule pack.",
    cls=Command,
    epilog=examples("whyroute test rules", "whyroute test rules --match patient --fail-fast"),
)
def pack_tests(
    pack: RequiredPackArgument,
    match: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--match",
            "-k",
            metavar="TEXT",
            help="Run the tests that have this in their name; case aside.",
            callback=_text,
        ),
    ] = None,
    tenant: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--tenant", "-t", metavar="T", help="Run the cases of this tenant.", callback=_text, autocompletion=tenants
        ),
    ] = None,
    capability: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--capability",
            "-c",
            metavar="NAME",
            help="Run the cases of this capability.",
            callback=_text,
            autocompletion=capabilities,
        ),
    ] = None,
    at: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--at",
            metavar="TIME",
            help="The time of tests that have none of their own; default: now.",
            callback=_text,
        ),
    ] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", "-x", help="Stop at the first case that fails.")] = False,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Tell which rules, clauses, waivers and conditions no test reaches.")
    ] = False,
    fail_under: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--fail-under",
            metavar="PERCENT",
            min=0,
            max=100,
            help="Exit with 1 when the tests reach less; brings --coverage.",
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Run again whenever a file of the pack changes.")] = False,
    format: Annotated[
        TestFormat, typer.Option("--format", "-f", help="How the results are printed; junit is XML for CI servers.")
    ] = TestFormat.text,
    everything: Annotated[
        bool, typer.Option("--all", help="Every failed case in full; otherwise three of a test, and twenty in all.")
    ] = False,
    output: OutputOption = None,
) -> None:
    """Run the tests of a rule pack: each combination of tenant and capability is a case.

    Exit status 0 when all pass, 1 when one fails, 2 when the pack doesn't load or has no such test.
    """
    from .testing import TestRun, run_pack_tests  # noqa: PLC0415

    run = TestRun(
        pack,
        format.value,
        output,
        match,
        tenant,
        capability,
        at,
        fail_fast,
        coverage or fail_under is not None,
        fail_under,
        everything,
        watch,
    )
    raise typer.Exit(run_pack_tests(run))


class CheckFormat(StrEnum):
    """How findings are printed."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"


class FailLevel(StrEnum):
    """Which findings make a check fail."""

    error = "error"
    warning = "warning"


@app.command(
    short_help="Look for what is wrong in a rule pack, or likely is.",
    cls=Command,
    epilog=examples("whyroute check rules", "whyroute check rules --fail-on warning --format github"),
)
def check(
    pack: PackArgument = None,
    format: Annotated[
        CheckFormat,
        typer.Option("--format", "-f", help="How findings are printed; github annotates the lines of a change."),
    ] = CheckFormat.text,
    fail_on: Annotated[
        FailLevel, typer.Option("--fail-on", help="The least that makes the exit status 1: errors, or warnings, too.")
    ] = FailLevel.error,
    at: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--at", metavar="TIME", help="The time that waivers are held against; default: now.", callback=_text
        ),
    ] = None,
    list_kinds: Annotated[bool, typer.Option("--list", help="Print what there is to find, and exit.")] = False,
    output: OutputOption = None,
) -> None:
    """Look for what is wrong in a rule pack, or likely is: names that nothing has, rules that change nothing.

    A comment on the line, or on a line of its own above, silences a finding:
    `# check: ignore NAME: reason`. Exit status 0 when nothing is found at the level, 1 when something is, a pack that
    can't be loaded included, 2 when it isn't there.
    """
    from .check import run_check  # noqa: PLC0415

    run_check(pack, format.value, fail_on.value, at, output, list_kinds=list_kinds)


@app.command(
    short_help="Compare what two rule packs answer.",
    cls=Command,
    epilog=examples(
        "whyroute diff HEAD:rules rules", "whyroute diff main:rules rules --fail-on looser --format markdown"
    ),
)
def diff(
    old: Annotated[
        str,
        typer.Argument(metavar="OLD", help="A rule pack: a path, or REV:PATH at a git revision.", callback=_pack),
    ],
    new: Annotated[
        str, typer.Argument(metavar="NEW", help="The rule pack to compare it with; likewise.", callback=_pack)
    ],
    requests: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--requests",
            metavar="FILE|-",
            help="Compare these requests, one JSON object per line, not all routes.",
            callback=_file,
        ),
    ] = None,
    fail_on: Annotated[
        Optional[Difference],  # noqa: UP045
        typer.Option(
            "--fail-on", help="Exit with 1 when a tenant's policy is looser, a route broke, or anything differs."
        ),
    ] = None,
    format: Annotated[
        DiffFormat, typer.Option("--format", "-f", help="How it is printed; markdown is for a review comment.")
    ] = DiffFormat.text,
    at: AtOption = None,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Where OLD is not in its revision, compare with an empty pack.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="All of every list, however long; markdown still fits a comment.")
    ] = False,
    output: OutputOption = None,
    progress: Annotated[
        Optional[bool],  # noqa: UP045
        typer.Option("--progress/--no-progress", help="A progress bar on stderr; by default when it is a terminal."),
    ] = None,
) -> None:
    """Compare what two rule packs answer: which routes break or appear, which picks and candidates change, and why.

    Exit status 0, or 1 when there is what --fail-on names; 2 when a pack doesn't load.
    """
    from .diff import run_diff  # noqa: PLC0415

    run_diff(
        old,
        new,
        requests=requests,
        fail_on=None if fail_on is None else fail_on.value,
        format=format.value,
        at=at,
        allow_missing=allow_missing,
        everything=everything,
        output=output,
        progress=progress,
    )


@app.command(
    short_help="Answer one wire request per line.",
    cls=Command,
    epilog=examples("whyroute batch requests.jsonl -o answers.jsonl"),
)
def batch(
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="Requests, one JSON object per line.", callback=_file)
    ] = "-",
    output: OutputOption = None,
    engine: EngineOption = EngineChoice.bitset,
    progress: Annotated[
        Optional[bool],  # noqa: UP045
        typer.Option("--progress/--no-progress", help="A progress bar on stderr; by default when it is a terminal."),
    ] = None,
) -> None:
    """Answer one request per line: one answer per line, in order, as they come.

    A line that is no request, or longer than 16 MiB, gets an error answer, and the rest go on: exit status 1. A line
    at which whyroute itself fails gets one with the code `internal`, and the rest go on: exit status 3. Exit status 2
    when there was no line at all.
    """
    from .batch import run_batch  # noqa: PLC0415

    raise typer.Exit(run_batch(file, output, engine.value, progress=progress))


@app.command(
    short_help="Route several capabilities together.",
    cls=Command,
    epilog=examples("whyroute bundle rules bundle.yaml --tenant elbe-clinics"),
)
def bundle(
    pack: PackArgument = None,
    file: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(
            metavar="FILE",
            help="A bundle (YAML or JSON): slots, what ties them, and maybe a tenant.",
            callback=_file,
        ),
    ] = None,
    tenant: TenantOption = None,
    name: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--name", "-n", metavar="NAME", help="A bundle of the pack, instead of FILE.", callback=_text),
    ] = None,
    label: LabelOption = None,
    at: AtOption = None,
    request: RequestOption = None,
    providers: ProvidersOption = None,
    why_not: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--why-not",
            metavar="SLOT=PROVIDER/MODEL",
            help="A candidate to compare; may be repeated.",
            callback=_text,
        ),
    ] = None,
    nodes: Annotated[
        int, typer.Option("--nodes", metavar="N", help="How many nodes of its tree the search may visit.")
    ] = 100_000,
    format: Annotated[
        BundleFormat,
        typer.Option("--format", "-f", help="How it is printed; html is a page that needs nothing else."),
    ] = BundleFormat.text,
    everything: Annotated[bool, typer.Option("--all", help="All clashes and ways out, however many.")] = False,
    output: OutputOption = None,
) -> None:
    """Route several capabilities together: one pick for each slot, and what ties them holds.

    Exit status 0 when there is a bundle, 1 when there is none, 2 when the request is unusable.
    """
    from ..errors import WhyrouteError  # noqa: PLC0415
    from .bundle import request_for_bundle, run_bundle  # noqa: PLC0415
    from .packs import in_options  # noqa: PLC0415

    try:
        asked = request_for_bundle(
            pack,
            file,
            tenant=tenant,
            name=name,
            labels=label or [],
            at=at,
            request=request,
            providers=providers,
        )
    except WhyrouteError as error:
        if format is BundleFormat.json:
            with settled(2):
                print_json({"error": error.to_dict()}, output)
        raise CommandError(in_options(error) if request is None else error) from None
    run_bundle(
        asked,
        why_not=why_not or [],
        format=format.value,
        everything=everything,
        nodes=nodes,
        output=output,
    )


@app.command(
    short_help="Print a JSON Schema.", cls=Command, epilog=examples("whyroute schema pack -o pack.schema.json")
)
def schema(
    name: Annotated[SchemaName, typer.Argument(metavar="NAME", help=f"Which schema: {', '.join(SchemaName)}.")],
    output: OutputOption = None,
) -> None:
    """Print a JSON Schema (draft 2020-12), for editors and validators."""
    if name is SchemaName.pack:
        from ..packs.load.schema import pack_schema  # noqa: PLC0415

        print_json(pack_schema(), output)
        return
    from ..wire.schemas import schema_named  # noqa: PLC0415

    print_json(schema_named(name.value), output)


@app.command(
    "import",
    short_help="Turn a published catalog into providers.",
    cls=Command,
    epilog=examples(
        "whyroute import models-dev -o rules/catalog.yaml", "whyroute import litellm prices.json --overlay overlay.yaml"
    ),
)
def import_(
    source: Annotated[Source, typer.Argument(metavar="SOURCE", help=f"Whose catalog it is: {', '.join(Source)}.")],
    file: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Argument(
            metavar="FILE",
            help="The published catalog; models-dev: that of the installed package when absent.",
            parser=_path,
        ),
    ] = None,
    overlay: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--overlay", metavar="FILE", help="Regions, attributes and latencies to fill in.", parser=_path),
    ] = None,
    format: Annotated[
        DataFormat, typer.Option("--format", "-f", help="How the providers are written.")
    ] = DataFormat.yaml,
    output: OutputOption = None,
) -> None:
    """Turn a published catalog into a `providers:` section.

    What can't be used is left out and counted on stderr: no price is ever guessed.
    """
    from ..errors import WhyrouteError  # noqa: PLC0415
    from ..providers.importers import import_catalog, skipped_lines, to_json, to_yaml  # noqa: PLC0415

    try:
        result = import_catalog(source.value, file, overlay)
    except WhyrouteError as error:
        raise CommandError(error) from None
    print_text(
        to_yaml(result.providers, header=result.header) if format is DataFormat.yaml else to_json(result.providers),
        output,
    )
    models = sum(len(provider["models"]) for provider in result.providers)
    remark(f"{len(result.providers)} providers, {models} models")
    for line in skipped_lines(result.skipped):
        remark(line)
    if not result.providers:
        complain("nothing of this catalog can be used")
        raise typer.Exit(2)


@app.command(
    short_help="Serve capabilities, providers and routing over HTTP.",
    cls=Command,
    epilog=examples(
        "whyroute serve rules --tenant elbe-clinics",
        "whyroute serve rules --tokens tokens.json --host 0.0.0.0",
    ),
)
def serve(
    pack: RequiredPackArgument,
    host: Annotated[
        str, typer.Option("--host", metavar="H", help="The address to listen on.", callback=_text)
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="P", min=0, max=65535, help="The port; 0 takes any that is free.")
    ] = 8000,
    tokens: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--tokens", metavar="FILE", help="The file of tokens that `whyroute token` makes.", parser=_path),
    ] = None,
    tenant: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--tenant",
            "-t",
            metavar="T",
            help="Without --tokens: the one tenant that is served, here alone.",
            callback=_text,
        ),
    ] = None,
    database: Annotated[
        str,
        typer.Option(
            "--db",
            metavar="URL",
            envvar="WHYROUTE_DB",
            help="Where registered providers are kept: an SQLite file, or the URL of a PostgreSQL database.",
            callback=_text,
        ),
    ] = "whyroute.db",
    label: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--label",
            metavar="KEY=VALUE",
            help="A label of every request, the operator's; may be repeated.",
            callback=_text,
        ),
    ] = None,
    decisions: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--decisions", metavar="FILE", help="Write one line of JSON for every route.", parser=_path),
    ] = None,
    cursor_keys: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--cursor-keys",
            metavar="FILE",
            help="Keys for cursors, one a line; the first seals, any opens.",
            parser=_path,
        ),
    ] = None,
    reload: Annotated[
        bool, typer.Option("--reload", help="Watch the pack; SIGHUP loads it again in any case.")
    ] = False,
    adapters: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--adapters",
            metavar="MODULE:NAME",
            help="A registry of adapters that set up what is registered.",
            callback=_text,
        ),
    ] = None,
    deployment: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--deployment",
            metavar="NAME",
            help="Keep the last good pack under this name, and start with it where the pack is broken.",
            callback=_name,
        ),
    ] = None,
    tenant_providers: Annotated[
        int, typer.Option("--tenant-providers", metavar="N", min=0, help="How many providers a tenant may register.")
    ] = 100,
    tenant_registered: Annotated[
        int,
        typer.Option("--tenant-registered", metavar="MIB", min=0, help="How many MiB a tenant may register in all."),
    ] = 4,
    tenant_requests: Annotated[
        int,
        typer.Option("--tenant-requests", metavar="N", min=1, help="How many requests of a tenant may be in flight."),
    ] = 64,
    tenant_memory: Annotated[
        int,
        typer.Option(
            "--tenant-memory",
            metavar="MIB",
            min=1,
            help="How many MiB of bodies and unread answers are held for a tenant.",
        ),
    ] = 128,
) -> None:
    """Serve capabilities, providers and routing over HTTP. It needs the extra `server`.

    The log of requests goes to standard output as lines of JSON. SIGTERM lets what was begun come to its end.
    """
    from .serve import run_serve  # noqa: PLC0415

    status = run_serve(
        pack,
        host=host,
        port=port,
        tokens=tokens,
        tenant=tenant,
        database=database,
        labels=label or [],
        decisions=decisions,
        cursor_keys=cursor_keys,
        reload=reload,
        adapters=adapters,
        deployment=deployment,
        tenant_providers=tenant_providers,
        tenant_registered=tenant_registered,
        tenant_requests=tenant_requests,
        tenant_memory=tenant_memory,
    )
    raise typer.Exit(status)


@app.command(
    short_help="Make or revoke a token of the service.",
    cls=Command,
    epilog=examples("whyroute token elbe-clinics --tokens tokens.json --expires 2027-06-30"),
)
def token(
    tenant: Annotated[str, typer.Argument(metavar="TENANT", help="Whose requests the token makes.", callback=_text)],
    tokens: Annotated[
        Path,
        typer.Option("--tokens", metavar="FILE", help="The file that keeps its hash; made if need be.", parser=_path),
    ],
    expires: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--expires", metavar="TIME", help="A date, to its end, or a date and time with its zone.", callback=_text
        ),
    ] = None,
    revoke: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--revoke",
            metavar="ID",
            help="Revoke this token instead: its id, which is its middle part.",
            callback=_text,
        ),
    ] = None,
) -> None:
    """Print a new token for the service, this once, and keep its hash; or revoke one."""
    from .token import run_token  # noqa: PLC0415

    run_token(tenant, tokens, expires, revoke)
