"""From the files of a pack to the pack: sections, references, policies in force, prepared requests."""
