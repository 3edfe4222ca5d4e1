"""What differs between two packs, not in their lines but in what they answer."""

from .comparing import compare_packs
from .comparison import Comparison
from .requests import InvalidRequestsError, PackRequest, read_requests

__all__ = ["Comparison", "InvalidRequestsError", "PackRequest", "compare_packs", "read_requests"]
