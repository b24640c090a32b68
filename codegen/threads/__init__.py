"""Which thread of a GPU touches what, and where it must wait: conflicts and barriers."""
