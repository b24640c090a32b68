"""Programs for given gathers of bytes: instructions whose control is solved for."""
