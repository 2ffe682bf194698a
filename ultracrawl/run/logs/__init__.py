"""Log files of a crawl: of runs, of the robot, of excluded links and candidates, and of single events."""
