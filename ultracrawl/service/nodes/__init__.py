"""Nodes: machines that share the sources of a project, with PostgreSQL between them and nothing else.

A `node.Node` decides which plans the supervisor of its machine runs: it takes those that are due and gives them back
when their run has ended. Everything else is the supervisor's.
"""
