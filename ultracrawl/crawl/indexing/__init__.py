"""What documents get and leave on their way to the indexes: anchor texts, stored answers; indexes that lack some."""
