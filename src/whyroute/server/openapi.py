from typing import Any


def openapi_document() -> dict[str, Any]:
    return {}
