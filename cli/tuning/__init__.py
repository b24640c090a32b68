"""`hbc tune`: what is proposed, how the search ends, what is remembered and written."""
