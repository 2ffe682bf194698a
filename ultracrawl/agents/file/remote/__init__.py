"""Remote file systems behind one interface: their URLs, connections and clients."""
