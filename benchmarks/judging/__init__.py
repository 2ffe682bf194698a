"""The parts of `answers.py`: corpora, questions, engines and quality measures."""
