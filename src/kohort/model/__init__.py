"""The nouns of Kohort: frozen values that every API is translated into."""
