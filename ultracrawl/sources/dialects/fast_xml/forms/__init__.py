"""The forms that values take in FAST XML, and what each becomes here."""
