"""The shapes of a model call, the same for every vendor; adapters translate them."""

from .fields import WireModel

__all__ = ["ModelCallInput", "ModelCallResult"]


class ModelCallInput(WireModel):
    """What a call sends."""


class ModelCallResult(WireModel):
    """What a call returns."""
