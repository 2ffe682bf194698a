"""What is found becomes queue entries: URLs of links, the filter, known URLs that are to be fetched again."""
