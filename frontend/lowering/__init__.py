"""From plans and regions to loops of the IR."""
