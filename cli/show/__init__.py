"""How results and mistakes look: tables, JSON, progress, pages, crashes."""
