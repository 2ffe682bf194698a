"""How text becomes words."""
