"""Changes of definitions by users of the pages and of the API: looked at first, saved, remembered, taken back."""
