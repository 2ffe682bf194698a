"""A service under load and kills for as long as one likes: its sites, its processes, and what is looked at then."""
