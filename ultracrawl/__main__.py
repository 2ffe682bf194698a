"""`python -m ultracrawl` is the `ultracrawl` command."""

from ultracrawl.cli import main

if __name__ == "__main__":
    main()
