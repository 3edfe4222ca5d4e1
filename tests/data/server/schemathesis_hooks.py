"""What no schema can say: where a valid request would be refused for it, the request is mended before it is sent."""

from typing import Any

import schemathesis
from schemathesis import GenerationMode


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """A cursor opens only where it was sealed; a default model is one of the models, whose names are unique; ties name
    slots that there are, and so do questions about them.
    """
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    if isinstance(case.query, dict) and not str(case.query.get("cursor", "")).startswith("gAAAA"):
        case.query.pop("cursor", None)
    body = case.body
    for tie in body.get("together", ()) if isinstance(body, dict) else ():
        tie.pop("slots", None)
    if isinstance(body, dict) and isinstance(asked := body.get("whyNot"), dict) and "capability" not in body:
        slots = body.get("slots")
        if slots:
            body["whyNot"] = {next(iter(slots)): next(iter(asked.values()))}
        else:
            body.pop("whyNot")  # the names of a bundle's slots are the pack's
    if isinstance(body, dict) and isinstance(metadata := body.get("metadata"), dict):
        models = {model["name"]: model for model in metadata["models"]}
        metadata["models"] = list(models.values())
        if "defaultModel" in metadata:
            metadata["defaultModel"] = next(iter(models))
