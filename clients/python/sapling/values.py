"""Values as they travel: JSON, with bytes as {"b64": "..."}.

What the node would refuse, or change on the way, is refused here, where the traceback still shows
the line that made it: numbers that do not fit, NaN, texts that are not Unicode, objects that are
not JSON.
"""
import base64
import binascii
import dataclasses
import datetime
import decimal
import enum
import json
import math
import re

MAX_DEPTH = 60        # the node's limit is 64, and a value is within a line
MAX_KEY = 900         # bytes of a key of a world's state
MAX_VALUE = 64 * 1024  # bytes of a row, of the arguments of an effect, of what a timer brings
MAX_NAME = 128        # bytes of the name of a world, a module, an event
MAX_LINE = 8 << 20    # bytes of a line that a program writes
MAX_INT = 2 ** 63 - 1

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(\d{1,15})(ms|s|m|h|d)")


class Cbor(bytes):
    """Bytes that are CBOR: the node brings them to their one form."""


def wire_of(value, where="value"):
    """The value as JSON types only. Errors name the place, beginning with `where`."""
    return _wire(value, where, [])


def _wire(value, where, above):
    if value is None or value is True or value is False:
        return value
    if isinstance(value, enum.Enum):
        return _wire(value.value, where, above)
    if isinstance(value, int):
        if not -MAX_INT - 1 <= value <= MAX_INT:
            raise ValueError(f"{where}: the number has more than 64 bits: store it as text, str(n)")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where}: {value} is not a JSON number: store None, or a text")
        return float(value)
    if isinstance(value, str):
        return text_of(value, where)
    if isinstance(value, (bytes, bytearray, memoryview)):
        made = {"b64": base64.b64encode(bytes(value)).decode("ascii")}
        return {**made, "encoding": "cbor"} if isinstance(value, Cbor) else made
    return _wire_container(value, where, above)


def _wire_container(value, where, above):
    if any(value is other for other in above):
        raise ValueError(f"{where}: contains itself")
    if len(above) >= MAX_DEPTH:
        raise ValueError(f"{where}: nested deeper than {MAX_DEPTH}")
    above.append(value)
    try:
        if isinstance(value, dict):
            return _wire_object(value, where, above)
        if isinstance(value, (list, tuple)):
            return [_wire(item, f"{where}[{i}]", above) for i, item in enumerate(value)]
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: _wire(getattr(value, field.name), f"{where}.{field.name}", above)
                    for field in dataclasses.fields(value)}
    finally:
        above.pop()
    raise TypeError(f"{where}: {type(value).__name__} is not JSON{_hint(value)}")


def _wire_object(value, where, above):
    made = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"{where}: the key {key!r} is not text: use {str(key)!r}")
        if "\0" in key:
            raise ValueError(f"{where}: the key {key!r} has a NUL, which no name may have")
        made[text_of(key, f"a key of {where}")] = _wire(item, f"{where}[{key!r}]", above)
    if _is_bytes(made) and _bytes_of(made) is None:
        raise ValueError(f"{where}: an object that has only \"b64\" means bytes, and this is not "
                         "Base64")
    return made


def _hint(value):
    if isinstance(value, (datetime.datetime, datetime.date)):
        return ": use .isoformat()"
    if isinstance(value, decimal.Decimal):
        return ": use str(), or an int of the smallest unit"
    if isinstance(value, (set, frozenset)):
        return ": use sorted()"
    if callable(value):
        return ": was it to be called?"
    return ": use None, bool, int, float, str, bytes, list, dict or a dataclass"


def text_of(value, where="text"):
    """The text, if it is Unicode that can be written."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"{where}: is not Unicode text ({error.reason}): store bytes") from None
    return str(value)


def name_of(value, where, empty=False):
    """The text, if it can be a name: of a world, an event, a reference."""
    if not isinstance(value, str):
        raise TypeError(f"{where} must be text, not {type(value).__name__}")
    text = text_of(value, where)
    if not text and not empty:
        raise ValueError(f"{where} is empty")
    if len(text.encode()) > MAX_NAME:
        raise ValueError(f"{where} has more than {MAX_NAME} bytes: {text[:40]!r}...")
    if "\0" in text:
        raise ValueError(f"{where} has a NUL: {text!r}")
    return text


def _is_bytes(wire):
    return "b64" in wire and (len(wire) == 1 or len(wire) == 2 and "encoding" in wire)


def _bytes_of(wire):
    """None: these are not bytes after all."""
    try:
        kind = {"raw": bytes, "cbor": Cbor}.get(wire.get("encoding", "raw"))
        return kind(base64.b64decode(wire["b64"].encode("ascii"), validate=True))
    except (binascii.Error, UnicodeEncodeError, AttributeError, TypeError):
        return None


def value_of(wire):
    """What wire_of() was given, up to types that JSON does not tell apart."""
    if isinstance(wire, list):
        return [value_of(item) for item in wire]
    if not isinstance(wire, dict):
        return wire
    if _is_bytes(wire):
        found = _bytes_of(wire)
        if found is not None:
            return found
    return {key: value_of(item) for key, item in wire.items()}


_FORM = {"ensure_ascii": True, "allow_nan": False, "check_circular": False,
         "separators": (",", ":")}
_DUMP = json.JSONEncoder(**_FORM)
_CANONICAL = json.JSONEncoder(**_FORM, sort_keys=True)


def dump(wire):
    """One line of JSON, without the newline."""
    return _DUMP.encode(wire)


def canonical(wire):
    """The same for equal values; different for 1, 1.0 and True."""
    return _CANONICAL.encode(wire)


def milliseconds(value, where):
    """Of "15m", 1.5 (seconds) or a timedelta."""
    if isinstance(value, str):
        match = _DURATION.fullmatch(value)
        if not match:
            raise ValueError(f"{where}: {value!r} is not a duration: "
                             "write 500ms, 30s, 15m, 2h or 1d")
        return int(match.group(1)) * _UNITS[match.group(2)]
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{where}: {type(value).__name__} is not a duration: "
                        "write \"30s\", seconds or a timedelta")
    if not 0 <= value < 1e10:
        raise ValueError(f"{where}: {value} is not a duration: seconds from 0 to 10 billion")
    return math.ceil(value * 1000)


def duration(value, where):
    """The same as the node reads it."""
    return value if isinstance(value, str) and milliseconds(value, where) >= 0 \
        else f"{milliseconds(value, where)}ms"


def moment(value, where):
    """Milliseconds since 1970 of a number of them, or of a datetime with a time zone."""
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise ValueError(f"{where}: a datetime needs a time zone: "
                             "datetime(..., tzinfo=timezone.utc)")
        return math.ceil(value.timestamp() * 1000)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{where}: {type(value).__name__} is not a time of day: "
                        "give milliseconds since 1970, such as e.now + 60000, or a datetime")
    if not 0 <= value <= MAX_INT // 1_000_000:
        raise ValueError(f"{where}: {value} is not milliseconds since 1970")
    return value
