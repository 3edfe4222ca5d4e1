"""The files of a pack: YAML with positions, hints at slips, revisions of git."""
