"""What an algorithm may use: the look at the model, what is allowed, the best so far."""
