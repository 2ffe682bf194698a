"""Changes of single sources in definition files by users of the pages: what they may change, and which bytes change."""
