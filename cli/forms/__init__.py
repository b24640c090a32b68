"""What `hbc compile --emit` writes of a compiled kernel: one row a form."""
