"""Requests and answers as JSON, and their schemas."""
