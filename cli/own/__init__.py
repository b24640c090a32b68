"""What is installed and this user's own: hbc's files as they are now, and the movements that were learned."""
