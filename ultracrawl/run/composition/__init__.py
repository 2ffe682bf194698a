"""The only place that knows all features: the declared list, what is built from it, and how it is opened."""
