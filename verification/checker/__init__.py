"""Checker of certificates: replays a derivation, and shares no code with passes and prover."""
