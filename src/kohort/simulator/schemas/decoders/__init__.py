"""
This is where an object of a built-in kind is read: checked, pruned and put into its one form.

Two readers give the same result. The quick one is compiled and knows no paths;
it gives up at the first thing that is not as it should be. Then the thorough
one goes through the object again and says what is wrong and where. Almost
every write is met by the quick one alone.
"""
