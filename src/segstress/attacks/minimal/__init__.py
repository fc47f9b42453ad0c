"""What only searches for the smallest delta use: proximal steps, prices of pixels, lengths of steps."""
