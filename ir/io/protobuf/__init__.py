"""The wire format of protobuf, for what its library does not offer."""
