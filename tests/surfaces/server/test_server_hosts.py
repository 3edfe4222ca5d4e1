"""The Host header where there are no tokens: this machine's own names, with a port or without, and nothing else."""

import re
from itertools import product
from pathlib import Path

from serverkit import make_kit

OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
OWN = re.compile(rf"(localhost|\[::1\]|127(\.{OCTET}){{3}})(:\d*)?", re.ASCII)
PARTS = ["[::1]", "::1", "localhost", "127.0.0.1", ".evil.com", "[", "]", ":", "80", "@", "%00", "\xb9"]


def test_only_own_names_with_a_port_are_answered(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, tenant="beta")
    for length in range(4):
        for chosen in product(PARTS, repeat=length):
            host = "".join(chosen)
            answer = kit.get("/healthz", None, headers=[("Host", host)])
            assert (answer.status == 200) is (OWN.fullmatch(host) is not None), host
            assert answer.status == 200 or answer.code == "foreign-host"
