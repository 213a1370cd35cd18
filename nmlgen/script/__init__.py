"""Shell scripts: their syntax, and what they would do, worked out without running a line of them."""
