"""What waits for a decision of a person, and the forms that decide."""
