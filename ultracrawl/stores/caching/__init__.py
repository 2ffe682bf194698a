"""What the stores of every engine keep in memory, so that a page costs no statement of its own."""
