"""Training: sources of rows, the objective, pre-training and Algorithm 1."""
