from .browser import Browser as Browser
from .browser import browser_program as browser_program
from .browser import what_rendering_lacks as what_rendering_lacks
