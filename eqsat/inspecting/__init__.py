"""What each instruction could do of an update whose loops are still whole: mappings, ranked, and refusals."""
