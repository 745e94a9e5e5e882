"""Expansion of RNN, GRU and LSTM into the operators of their cells."""
