"""From text to loops: parse, check and evaluate a kernel, apply its schedule and lower it."""
