"""The hbc command: arguments, the pipeline of passes, reports and exit codes."""
