"""How results and mistakes look: tables, JSON, progress, words of the language, crashes."""
