"""From bytes to text: which encoding a body has, and who says so."""
