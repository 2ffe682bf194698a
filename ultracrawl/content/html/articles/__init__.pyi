from .beside import find_article as find_article
from .beside import keep_article as keep_article
from .extractor import article_of as article_of
from .extractor import check_extractor as check_extractor
from .extractor import keep_words_of as keep_words_of
