"""From scheduled IR to source text that a C compiler accepts, and the calls to that compiler."""
