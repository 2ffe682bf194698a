"""What accompanies documents to the indexes: anchor texts, stored responses, and the repair of incomplete indexes."""
