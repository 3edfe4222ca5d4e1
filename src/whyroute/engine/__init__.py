"""The solver: problems of python-constraint2 with one variable, and with one for each slot of a bundle."""
