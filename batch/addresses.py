"""Addresses of shared storage, such as `s3://bucket/models`, by way of fsspec."""

import hashlib
import logging
import os
import re
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..ir import LoadError, SaveError
from ..ir.errors import reason
from ..records import record
from .errors import BatchError

_MARK = "://"
_OF_THIS_MACHINE = ("file", "local")
_LOST_SLASH = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/[^/]")
"""An address that went through pathlib, which makes one slash of two."""

_WHOLE = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss", "r2", "memory"}
"""Stores in which an object appears when all of it is there."""

ONE_PROCESS = "memory"
"""The store that only one process has, for tests."""

Stored = dict[str, Any]
"""Description of a stored file: its size, and a digest of what the store tells of it."""


@record(frozen=True)
class Address:
    """A file or folder on shared storage.

    Attributes:
        url: the address, without a slash at its end.
    """

    url: str

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, below: str) -> "Address":
        return Address(f"{self.url}/{below}")

    @property
    def parent(self) -> "Address":
        """The folder that it lies in."""
        return Address(self.url.rpartition("/")[0])

    @property
    def name(self) -> str:
        """The last part."""
        return self.url.rpartition("/")[2]

    @property
    def protocol(self) -> str:
        """The kind of store."""
        return self.url.partition(_MARK)[0]

    def opened(self) -> tuple[Any, str]:
        """Return the store of fsspec, and the path in it.

        Raises:
            BatchError: fsspec or the package of the store is not installed, or there is none such.
        """
        try:
            from fsspec.core import url_to_fs

            _quiet(self.protocol)
            # A cached listing would hide what other processes have written since.
            fs, path = url_to_fs(self.url, use_listings_cache=False)
        except ImportError as error:
            raise BatchError(
                f"cannot open '{self.url}': {reason(error)}; addresses need fsspec, with"
                " pip install 'straightline[storage]', and the package of the store"
            ) from error
        except Exception as error:
            raise BatchError(f"cannot open '{self.url}': {reason(error)}") from error
        return fs, str(path).rstrip("/")

    def described(self) -> Stored | None:
        """Describe the file; None where there is none.

        Raises:
            LoadError: the store does not answer.
        """
        fs, path = self.opened()
        try:
            info = fs.info(path)
            answer = repr(sorted(info.items(), key=str)).encode()
            return {"size": int(info["size"] or 0), "told": hashlib.sha256(answer).hexdigest()}
        except FileNotFoundError:
            return None
        except Exception as error:
            raise LoadError(f"cannot read '{self.url}': {reason(error)}") from error

    def below(self, pattern: str = "") -> list[str]:
        """List the files below, sorted, by their paths from here.

        Args:
            pattern: a pattern of fsspec that they match; "" for all.

        Raises:
            BatchError: the store does not answer.
        """
        fs, path = self.opened()
        try:
            files = fs.glob(f"{path}/{pattern}") if pattern else fs.find(path)
        except FileNotFoundError:
            return []
        except Exception as error:
            raise BatchError(f"cannot read '{self.url}': {reason(error)}") from error
        names = (str(file).removeprefix(path).lstrip("/") for file in files)
        return sorted(filter(None, names))

    def read(self) -> bytes:
        """Return the content of the file.

        Raises:
            LoadError: it cannot be read.
        """
        fs, path = self.opened()
        try:
            return bytes(fs.cat_file(path))
        except Exception as error:
            raise LoadError(f"cannot read '{self.url}': {reason(error)}") from error

    def fetch(self, file: Path) -> None:
        """Copy the file to this machine.

        Raises:
            LoadError: it cannot be read.
        """
        fs, path = self.opened()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            fs.get_file(path, str(file))
        except Exception as error:
            raise LoadError(f"cannot read '{self.url}': {reason(error)}") from error

    def put(self, content: Path | bytes) -> None:
        """Store a file or bytes; whole or not at all, as far as the store can.

        Raises:
            SaveError: it cannot be written.
        """
        fs, path = self.opened()
        folder, _, name = path.rpartition("/")
        # Other stores show a file during its writing, so a rename completes it.
        place = path if self.protocol in _WHOLE else f"{folder}/.{name}.{uuid.uuid4().hex}"
        try:
            fs.makedirs(folder, exist_ok=True)
            if isinstance(content, bytes):
                fs.pipe_file(place, content)
            else:
                fs.put_file(str(content), place)
            if place != path:
                fs.mv(place, path)
        except Exception as error:
            raise SaveError(f"cannot write '{self.url}': {reason(error)}") from error

    def remove(self) -> None:
        """Remove the file, if it is there.

        Raises:
            SaveError: it cannot be removed.
        """
        fs, path = self.opened()
        try:
            fs.rm_file(path)
        except FileNotFoundError:
            return
        except Exception as error:
            raise SaveError(f"cannot remove '{self.url}': {reason(error)}") from error


def _quiet(protocol: str) -> None:
    """Keep a package's log from standard error, where nobody else handles it: errors tell."""
    from fsspec.registry import known_implementations

    package = str(known_implementations.get(protocol, {}).get("class", "")).partition(".")[0]
    logger = logging.getLogger(package or "fsspec")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


Place = Path | Address
"""A file or folder, here or on shared storage."""


def place_of(name: str | os.PathLike[str]) -> Place:
    """Return the place that a text or path names.

    Raises:
        BatchError: it is an address that went through pathlib, or names no absolute path.
    """
    text = os.fspath(name)
    if not isinstance(name, str) and _LOST_SLASH.match(text):
        address = text.replace(":/", _MARK, 1)
        raise BatchError(f"'{text}' lacks a slash; write the address '{address}', as text")
    protocol, mark, rest = text.partition(_MARK)
    if not mark or not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", protocol):
        return Path(text)
    if protocol.lower() not in _OF_THIS_MACHINE:
        return Address(text.rstrip("/"))
    if not os.path.isabs(rest):
        raise BatchError(f"'{text}' names no absolute path; write it as in file:///home/me/models")
    return Path(rest)


def are_stored_as_before(entries: Mapping[str, Stored], folder: Address) -> bool:
    """Test whether all files of a folder are there, and unchanged to the store."""
    try:
        return all((folder / name).described() == entry for name, entry in entries.items())
    except LoadError:  # the work on it tells
        return False


def stored(names: Iterable[str], folder: Address) -> dict[str, Stored]:
    """Describe each file of a folder.

    Raises:
        LoadError: one is not there.
    """
    entries: dict[str, Stored] = {}
    for name in sorted(names):
        entry = (folder / name).described()
        if entry is None:
            raise LoadError(f"there is no file '{folder / name}'")
        entries[name] = entry
    return entries
