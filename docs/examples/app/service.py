"""A service of a regulated platform: tenants, providers of its own, calls with fail-over, and an audit log."""

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel

import whyroute as wr

PACK = Path(__file__).parents[1] / "clinic" / "pack.yaml"


class Question(BaseModel):
    """What a tenant asks."""

    capability: str
    text: str
    labels: dict[str, str] = {}


class Answer(BaseModel):
    """What it gets: the text, who gave it, and why."""

    text: str
    provider: str
    model: str
    reason: str


def connect(path: str) -> sqlite3.Connection:
    """The platform's database: what is registered for each tenant, and the audit log."""
    database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    database.execute("CREATE TABLE IF NOT EXISTS registrations (tenant TEXT, registration TEXT)")
    database.execute("CREATE TABLE IF NOT EXISTS audit (record TEXT)")
    return database


def echo(given: wr.AdapterFactoryInput) -> wr.ModelProvider:
    """The provider of a registration; a real adapter makes its vendor's client here."""
    return wr.EchoProvider(given.metadata)


async def read_secret(reference: Mapping[str, str]) -> str:
    """The secret that a registration names; it is read when a call needs it, and never kept."""
    return os.environ[reference["envName"]]


def make_app(database: sqlite3.Connection, pack: Path = PACK) -> FastAPI:
    """The application over a database and a rule pack."""

    def load(tenant: str) -> Iterable[wr.Registration]:
        rows = database.execute("SELECT registration FROM registrations WHERE tenant = ?", (tenant,))
        return [wr.Registration.of_json(text) for (text,) in rows.fetchall()]

    adapter = wr.AdapterFactoryEntry(adapter_id="echo", capability_kind="llm-inference", factory=echo)
    registry = wr.HydratingRegistry(load, wr.AdapterFactoryRegistry([adapter]), secrets=read_secret)
    router = wr.Router(pack, registry)
    app = FastAPI()

    @app.post("/providers", status_code=201)
    async def register(metadata: wr.ProviderMetadata, tenant: Annotated[str, Header()]) -> dict[str, str]:
        # FastAPI answers 422 to metadata that breaks a rule, with each problem at its place.
        registration = wr.Registration(metadata, "echo", secret_ref={"envName": "ECHO_KEY"})
        await registry.hydrate(tenant)
        try:
            registry.register(tenant, registration)  # checked by its adapter before it is stored
        except wr.DuplicateProviderError as error:
            raise HTTPException(409, error.to_dict()) from None
        database.execute("INSERT INTO registrations VALUES (?, ?)", (tenant, registration.to_json()))
        return {"providerId": metadata.id}

    @app.post("/ask")
    async def ask(question: Question, tenant: Annotated[str, Header()]) -> Answer:
        call = wr.ModelCallInput(model="any", messages=[wr.ModelMessage(role="user", content=question.text)])
        try:
            outcome = await router.invoke(
                tenant,
                question.capability,
                call,
                labels=question.labels,
                retry_on=lambda error: isinstance(error, TimeoutError),
            )
        except wr.UnknownTenantError as error:
            raise HTTPException(403, error.to_dict()) from None
        except wr.UnknownCapabilityError as error:
            raise HTTPException(404, error.to_dict()) from None
        except wr.CapabilityUnsatisfiableError as error:
            raise HTTPException(422, error.to_dict()) from None
        except wr.InvocationError as error:
            raise HTTPException(502, error.to_dict()) from None
        decision = outcome.decision
        record: dict[str, Any] = {
            **decision.to_record(),
            "attempts": [attempt.to_dict() for attempt in outcome.attempts],
        }
        database.execute("INSERT INTO audit VALUES (?)", (json.dumps(record),))
        return Answer(
            text=outcome.result.message.content,
            provider=decision.provider.metadata.id,
            model=decision.model.name,
            reason=decision.reason,
        )

    return app
