"""The C file: statements, loops, the entry point and its checks."""
