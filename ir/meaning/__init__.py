"""What a program means: interpreter, arithmetic of all types, the semantics of instructions, the verifier
of stages."""
