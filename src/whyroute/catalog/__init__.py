"""The candidates of providers, numbered in tie-break order and indexed."""
