"""The language that describes instructions: from text to checked records."""
