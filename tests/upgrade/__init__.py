"""Data of earlier versions, each in a folder of its own, opened by this one.

* `projects` says which projects there are, what their sites serve, and what is done with their data.
* `journey` does that, with whatever version, and notes what came out.
* `make` makes the folder of a version: the data as that version left them, and what it did with them itself.
* `test_upgrade` has this version do the same, for every folder that is there.
"""
