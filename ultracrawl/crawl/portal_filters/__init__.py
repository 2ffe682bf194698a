"""The filters of a source at work, and the bounds of other people's code that they call."""
