"""The cheapest of what the rules find, and what is said where nothing fits."""
