"""A process that is forked while another thread holds a lock."""

import os
import subprocess
import sys
import textwrap

import pytest

SCRIPT = textwrap.dedent(
    """
    import os, signal, sys, threading
    import whyroute as wr

    META = {"id": "p", "region": "r", "models": [{"name": "m", "contextWindow": 1, "features": [],
            "cost": {"promptUsdPer1kTokens": 1, "completionUsdPer1kTokens": 1}}]}

    class Mine:
        metadata = META
        async def invoke(self, call, /): ...

    registry = wr.ProviderRegistry([("t", Mine())])
    catalog = registry.list("t")
    held, done = threading.Event(), threading.Event()

    def hold():
        with registry._lock, catalog._lock:
            held.set()
            done.wait()

    threading.Thread(target=hold, daemon=True).start()
    held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        wr.route({"needs": []}, catalog)
        assert registry.has("t", "p")
        assert len(registry.list("t")) == 1
        os._exit(0)
    _, status = os.waitpid(child, 0)
    done.set()
    sys.exit(os.waitstatus_to_exitcode(status))
    """
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_waits_for_no_thread_that_it_does_not_have() -> None:
    # Newer Pythons warn of a fork beside threads, which is what this is about.
    run = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", SCRIPT],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")


INSIDE = textwrap.dedent(
    """
    import os, signal, sys, threading
    from whyroute.forks import Lock

    lock = Lock()
    with lock:
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            entered = threading.Event()

            def enter():
                with lock:
                    entered.set()

            other = threading.Thread(target=enter)
            other.start()
            early = entered.wait(0.2)
    if child == 0:
        other.join()
        with lock:
            os._exit(3 if early else 0)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_forked_by_the_thread_that_holds_a_lock_holds_it_too() -> None:
    run = subprocess.run([sys.executable, "-c", INSIDE], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stderr) == (0, "")
