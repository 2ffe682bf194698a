"""The way back: a source as the configuration files of a portal robot, and what of it they cannot say."""

from ultracrawl.sources.dialects.portal_robot.export.files import RobotText, robot_text, write_robot

__all__ = ["RobotText", "robot_text", "write_robot"]
