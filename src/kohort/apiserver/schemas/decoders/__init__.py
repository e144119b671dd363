"""
Decoders of built-in kinds: they check types, drop unknown fields, and make values canonical.

Two readers give the same result. The quick one is compiled and knows no paths;
it gives up at the first thing that is not as it should be. Then the thorough
one goes through the object again and says what is wrong and where. Almost
every write is met by the quick one alone.
"""
