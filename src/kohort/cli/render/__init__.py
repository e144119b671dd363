"""Views as text: plain lines, few symbols, a word beside each; colour only repeats the word."""
