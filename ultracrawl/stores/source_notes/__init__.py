"""Small notes about a source that outlive its state: why it failed, what it was defined as, when it was compared."""
