"""Which part of each Func is computed where: bounds inference, storage, reuse between iterations."""
