"""Text analysis: tokenising, folding, stemming, stop words, identifiers."""
