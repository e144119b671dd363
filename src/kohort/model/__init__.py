"""The model of Kohort: frozen values into which every API's objects are translated."""
