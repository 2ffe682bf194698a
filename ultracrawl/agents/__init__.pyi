from .agent.crawler_agent import AgentError as AgentError
from .agent.crawler_agent import AgentParameter as AgentParameter
from .agent.crawler_agent import AttributeLovs as AttributeLovs
from .agent.crawler_agent import CrawlerAgent as CrawlerAgent
from .agent.crawler_agent import UrlData as UrlData
from .agent.document_file import DocumentFile as DocumentFile
