"""The problem, and what is known of every solution before searching. A pruning loses no solution."""
