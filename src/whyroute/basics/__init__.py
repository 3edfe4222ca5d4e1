"""What knows nothing of routing: exact numbers, sets as integers, globs, issues."""
