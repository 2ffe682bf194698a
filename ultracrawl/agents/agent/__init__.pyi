from .lister import AgentLister as AgentLister
from .loading import check_parameters as check_parameters
from .loading import load_class as load_class
