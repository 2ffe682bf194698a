from .loader import SourceSpiderLoader as SourceSpiderLoader
from .source import SourceSpider as SourceSpider
