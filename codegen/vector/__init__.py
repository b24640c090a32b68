"""Vectors for any machine that has registers of lanes: the printers, and the form of the tables that say
what a machine has."""
