"""A provider that answers without a network, for trying things out and for tests."""

import re
import time
from collections.abc import AsyncIterator, Sequence

from ..model.calls import CalledModel, ModelCallDelta, ModelCallInput, ModelCallResult, ModelMessage, UsageCounters
from ..model.metadata import ModelCost, ModelInfo, ProviderMetadata

__all__ = ["EchoProvider"]


class EchoProvider:
    """Answers with the last message. Words count as tokens, and cost what the metadata says.

    Args:
        metadata: What it says of itself; or an id, for one model called `echo` that is free.
        region: Its region, where an id is given.
        features: The features of its model, where an id is given.

    Example:
        >>> import asyncio
        >>> import whyroute as wr
        >>> echo = wr.EchoProvider("echo", features=["streaming"])
        >>> call = wr.ModelCallInput(model="echo", messages=[wr.ModelMessage(role="user", content="hello there")])
        >>> asyncio.run(echo.invoke(call)).message.content
        'hello there'
    """

    def __init__(
        self, metadata: ProviderMetadata | str, *, region: str = "unspecified", features: Sequence[str] = ()
    ) -> None:
        if isinstance(metadata, str):
            free = ModelCost(prompt_usd_per_1k_tokens=0, completion_usd_per_1k_tokens=0)
            model = ModelInfo(name="echo", context_window=1_000_000, features=features, cost=free)
            metadata = ProviderMetadata(id=metadata, region=region, models=[model])
        self.metadata = metadata

    async def invoke(self, call: ModelCallInput, /) -> ModelCallResult:
        """Answer with the last message.

        Raises:
            ValueError: The provider has no such model.
        """
        started = time.perf_counter()
        model = next((model for model in self.metadata.models if model.name == call.model), None)
        if model is None:
            raise ValueError(f"provider `{self.metadata.id}` has no model `{call.model}`")
        text = call.messages[-1].content if call.messages else ""
        prompt = sum(len(message.content.split()) for message in call.messages)
        completion, cost = len(text.split()), model.cost
        usd = prompt * cost.prompt_usd_per_1k_tokens + completion * cost.completion_usd_per_1k_tokens
        return ModelCallResult(
            message=ModelMessage(role="assistant", content=text),
            finish_reason="stop",
            usage=UsageCounters(prompt_tokens=prompt, completion_tokens=completion),
            cost_usd=usd / 1000,
            duration_ms=(time.perf_counter() - started) * 1000,
            provider=CalledModel(id=self.metadata.id, model=model.name),
        )

    async def stream(self, call: ModelCallInput, /) -> AsyncIterator[ModelCallDelta | ModelCallResult]:
        """The same word by word, and the whole result at the end."""
        result = await self.invoke(call)
        for word in re.findall(r"\s*\S+|\s+$", result.message.content):
            yield ModelCallDelta(content=word)
        yield result
