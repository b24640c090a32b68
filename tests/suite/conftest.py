"""The modules of this folder are on the path already: the whole suite uses them."""
