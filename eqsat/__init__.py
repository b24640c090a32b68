"""Will hold the choice of tensor instructions by equality saturation."""
