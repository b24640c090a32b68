"""What instructions read and write: loads, packs, fragments, and whether they are the statement's own."""
