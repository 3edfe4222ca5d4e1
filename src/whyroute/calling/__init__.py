"""Routes bound to tenants, and calls that go on to the alternates where a provider fails."""
