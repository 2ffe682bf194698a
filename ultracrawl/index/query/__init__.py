"""Query trees: parsing, synonyms, relaxation, scoring constants, spelling and completion."""
