"""Recurrences as the operators that compute them: GRU, LSTM, RNN, CumSum and others."""
