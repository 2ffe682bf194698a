"""How an answer is read: its language, what its owner allows, and documents that go to a process of their own."""
