"""The logs that a crawl writes: of the run, of the robot, of links that were turned away, of single events."""
