"""Reads, edits and writes the four configuration files of the portal search robot, and runs it like that robot.

`dialect` is the entry point; `reader.read_robot` reads `robot.conf` and the files beside it. Those of filters are read
by `sources.filter_files`, as for any source. `service` is the robot as a process, `verbs` are its commands.
"""
