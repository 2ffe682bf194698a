"""The stores of a project in one schema of a PostgreSQL database; the only package that knows psycopg's connections."""
