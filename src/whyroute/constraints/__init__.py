"""Named constraints: terms, rules in three values, compiled against a catalog."""
