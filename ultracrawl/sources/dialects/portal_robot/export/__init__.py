"""The way back: a source as the configuration files of a portal robot, and what of it they cannot say."""
