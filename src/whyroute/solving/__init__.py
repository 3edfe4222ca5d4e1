"""A request, compiled to terms, solved over a catalog at a time, and ranked."""
