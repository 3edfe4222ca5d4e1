"""Solving nearly the same request again."""

from typing import Any

from hypothesis import given, strategies as st

from strategies import capabilities, policies, requests
from whyroute.model.capability import read_capability
from whyroute.model.policy import read_policy
from whyroute.solving.request import RequestTerms
from whyroute.wire.request import read_request


@given(request=requests(), capability=st.none() | capabilities, policy=st.none() | policies, keep_policy=st.booleans())
def test_solving_again_is_solving_afresh(
    request: dict[str, Any], capability: dict[str, Any] | None, policy: dict[str, Any] | None, keep_policy: bool
) -> None:
    solved = read_request({"at": "2026-12-24", **request}).solve()
    declared = solved.capability if capability is None else read_capability(capability)
    tenant = solved.policy if keep_policy else None if policy is None else read_policy(policy)
    again = solved.again(declared, tenant)
    afresh = RequestTerms(declared, tenant, None).solved(
        solved.catalog,
        preferred_provider=solved.preferred_provider,
        preferred_model=solved.preferred_model,
        setup_failures=solved.setup_failures,
    )
    assert again.survivors == afresh.survivors
    assert again.constraints.admitted == afresh.constraints.admitted
    assert [(each.id, each.term) for each in again.constraints] == [(each.id, each.term) for each in afresh.constraints]
    assert (again.capability, again.policy, again.setup_failures) == (declared, tenant, afresh.setup_failures)
    if again.survivors:
        assert list(again.ranked(again.survivors)) == list(afresh.ranked(afresh.survivors))
