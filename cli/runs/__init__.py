"""Calling compiled code: in a child process with limits, under an emulator, on a GPU; checking what it
gives."""
