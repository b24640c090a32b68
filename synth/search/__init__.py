"""The search: every solution, the cheapest first, or a proof that there is none."""
