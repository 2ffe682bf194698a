"""The logs that a crawl writes: of the run, of the robot, of links that were excluded, of single events."""
