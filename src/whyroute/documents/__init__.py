"""Text to values, or issues with their places: JSON, YAML, schemas; the phrases of messages."""
