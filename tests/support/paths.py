"""Where things are."""

from pathlib import Path
from typing import Final

SUPPORT: Final = Path(__file__).parent
TESTS: Final = SUPPORT.parent
ROOT: Final = TESTS.parent
