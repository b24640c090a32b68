"""Arrays and sizes from and to files."""
