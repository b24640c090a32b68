"""Which candidates are proposed, how the search ends, what is remembered and written."""
