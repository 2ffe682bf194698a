"""The parts of `answers.py`: what is asked, of which pages, who answers, and how good the answers are."""
