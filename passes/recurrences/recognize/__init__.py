"""Idiom recognition: recurrences as GRU, LSTM, RNN, CumSum and others."""
