from .documents import rename_documents as rename_documents
from .left_over import heir_of as heir_of
from .left_over import heirs_of as heirs_of
from .left_over import left_over_sources as left_over_sources
from .places import rename_places as rename_places
from .places import require_idle as require_idle
