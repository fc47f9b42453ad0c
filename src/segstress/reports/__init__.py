"""Numbers and pictures from results; loads no model, opens no store. One package for each page, `kit` for all."""
