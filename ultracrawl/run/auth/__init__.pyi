from .form_login import FormLogin as FormLogin
from .form_login import KeptSession as KeptSession
from .form_login import LoginSession as LoginSession
from .form_login import cookie_group as cookie_group
