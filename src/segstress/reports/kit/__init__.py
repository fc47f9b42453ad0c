"""What every page is made of: tables, drawings, pictures, templates."""
