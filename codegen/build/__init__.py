"""From text to something to call: compilers, emulators, stand-ins for instructions that are absent."""
