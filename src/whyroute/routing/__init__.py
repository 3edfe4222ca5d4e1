"""A request from its parts to its answer: prepared, bound to a catalog, routed."""
