from .filtering import Filtering as Filtering
