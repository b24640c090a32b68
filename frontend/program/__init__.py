"""What a checked program consists of: Funcs, scopes, sizes, ranges, and what is known and proved of them."""
