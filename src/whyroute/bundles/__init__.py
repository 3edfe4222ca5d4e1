"""Bundles: several capabilities routed together."""
