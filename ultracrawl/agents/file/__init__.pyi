from .fetcher import FileFetcher as FileFetcher
from .lister import FileLister as FileLister
from .remote_folders import check_libraries as check_libraries
from .watched import watched_files as watched_files
