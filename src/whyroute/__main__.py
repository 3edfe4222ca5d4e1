"""`python -m whyroute` is the command line, and the script `whyroute` starts here too."""

import gc
import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line, and return the exit status; Ctrl-C is quiet from the first import on."""
    # What a command reads stays until it ends. The collector's default would look through a large pack again and again
    # for rubbish that is not there, which took half of the time that loading one takes.
    gc.set_threshold(100_000, 20, 20)
    try:
        from .cli import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
