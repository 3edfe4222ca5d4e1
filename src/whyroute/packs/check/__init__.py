"""The lint of rule packs: what loads, and is wrong all the same or likely is."""

from .checking import check_pack
from .findings import Finding
from .kinds import KINDS, Kind, Level

__all__ = ["KINDS", "Finding", "Kind", "Level", "check_pack"]
