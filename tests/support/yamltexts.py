"""Texts near those of real packs: the files of the cases, mutated."""

from hypothesis import strategies as st

from packcases import cases

SEEDS = tuple(text for case in cases() for text in case.files.values())

PIECES = (
    *":-,[]{}#&*!|>'\"%@`?~. \n\t",
    *("- ", ": ", " #", "\n  ", "\n- ", "<<: *a", "&a ", "*a", "!!str ", "---\n", "...\n", "null", "true", "no"),
    *(
        "0",
        "010",
        "1:30",
        "4.10",
        ".nan",
        "1e999",
        "2024-08-06",
        "é",
        "東",
        "\u00a0",
        "\u2028",
        "\ufeff",
        "\x07",
        "\r\n",
    ),
    *("whyroute: 1\n", "rules:\n", "tenants:", "name: ", "{name: a}", "[a, b]", "any: ", "not: ", "is: ", "a: ", "  "),
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A seed with a few pieces cut out, put in, repeated or moved."""
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        middle = draw(st.sampled_from(("", *PIECES)) | st.text(max_size=4) | st.just(text[start:end] * 2))
        text = text[:start] + middle + text[end:]
    return text


texts = mutated() | st.text(st.sampled_from("ab:-,[]{}#&*!|>'\"%@`?~.01 \n"), max_size=40)
