"""The wire format of protobuf, for operations that its library lacks."""
