"""What makes pages, tables and figures of the documentation."""
