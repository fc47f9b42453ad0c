"""Where people decide: a page that shows predictions without saying whose they are, served or as a folder."""
