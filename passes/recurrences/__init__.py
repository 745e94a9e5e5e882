"""Idiom recognition of recurrences, and expansion of RNN, GRU and LSTM."""
