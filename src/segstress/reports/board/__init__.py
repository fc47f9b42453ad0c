"""Models beside each other under every threat that they were tried under: a table and a card for each."""
