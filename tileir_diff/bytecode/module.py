"""A module as a bytecode file: a header, then sections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.bytecode.attributes import constant, encode_entry_hints
from tileir_diff.bytecode.encoding import add_section, varint
from tileir_diff.bytecode.ops import Code
from tileir_diff.bytecode.tables import Tables
from tileir_diff.bytecode.unwritable import Unwritable
from tileir_diff.bytecode.versions import (
    MAJOR,
    OLDEST,
    PRODUCER_SINCE,
    VERSIONS,
    greatest_need,
    minor,
    producer_of,
)
from tileir_diff.errors import InputError
from tileir_diff.ingest.source import MAGIC

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import ModuleOp, TileOp

END, STRINGS, FUNCTIONS, DEBUG, CONSTANTS, TYPES, GLOBALS, PRODUCER = range(8)
ENTRY: Final = 0x02
ENTRY_WITH_HINTS: Final = 0x06
VISIBILITY: Final = ("public", "private")


@dataclass(frozen=True)
class Bytecode:
    """A file, its version such as "13.4", and what of the module it does not hold."""

    data: bytes
    version: str
    notes: tuple[str, ...]


def write_module(module: ModuleOp, version: str | None = None) -> Bytecode:
    """The module as bytecode of a version; without one, of the oldest that can hold it.

    Raises InputError for a version that there is not, and for what a version cannot hold.
    """
    chosen = _version(module, version)
    tables = Tables(chosen)
    entries = module.entries
    try:
        _refuse_others(module)
        tables.debug.collect(entries)
        functions = varint(len(entries)) + b"".join(_entry(tables, *each) for each in enumerate(entries))
        variables = b"".join([_global(tables, op) for op in module.globals])
    except Unwritable as reason:
        raise _error(module, reason.op or module, str(reason)) from None
    producer = producer_of(module) if chosen >= PRODUCER_SINCE else ""
    origin = varint(tables.string(producer)) if producer else b""
    debug = tables.debug.encode()
    out = bytearray(MAGIC + bytes((MAJOR, chosen, 0, 0)))
    add_section(out, FUNCTIONS, functions, 8)
    if variables:
        add_section(out, GLOBALS, varint(len(module.globals)) + variables)
    if len(tables.constants):
        add_section(out, CONSTANTS, tables.constants.encode(8), 8)
    if debug:
        add_section(out, DEBUG, debug, 8)
    add_section(out, TYPES, tables.types.encode(4), 4)
    if origin:
        add_section(out, PRODUCER, origin)
    add_section(out, STRINGS, tables.strings.encode(4), 4)
    out.append(END)
    return Bytecode(bytes(out), f"{MAJOR}.{chosen}", _notes(module, tables))


def _version(module: ModuleOp, version: str | None) -> int:
    if version is not None and version not in VERSIONS:
        raise InputError(f"no bytecode version {version}; there are {', '.join(VERSIONS)}")
    need = greatest_need(module)
    if version is None:
        return max(need.since, PRODUCER_SINCE if producer_of(module) else OLDEST)
    if need.since > minor(version):
        message = f"{need.what} needs bytecode {MAJOR}.{need.since}, and {version} was asked for"
        raise _error(module, need.op, message)
    return minor(version)


def _error(module: ModuleOp, op: TileOp, message: str) -> InputError:
    if module.dump is None:
        return InputError(message)
    return module.dump.text.error(message, op.start)


def _notes(module: ModuleOp, tables: Tables) -> tuple[str, ...]:
    notes = list(module.approximations)
    if tables.debug.dropped:
        notes.append(f"debug locations left out, which bytecode cannot hold: {tables.debug.dropped}")
    if tables.version < PRODUCER_SINCE and producer_of(module):
        notes.append(f"the module's producer is left out: it needs bytecode {MAJOR}.{PRODUCER_SINCE}")
    if module.get("sym_name"):
        notes.append(f"the module's name @{module.get('sym_name')} is left out: bytecode has none")
    return tuple(notes)


def _refuse_others(module: ModuleOp) -> None:
    for op in module.inner():
        if op.short not in ("entry", "global"):
            raise Unwritable(f"'{op.short}' cannot be written: bytecode holds entries and globals", op)


def _entry(tables: Tables, index: int, op: TileOp) -> bytes:
    """Name, type, flags, location, hints, then the code with its length."""
    try:
        block = op.regions[0].block
        signature = tables.type(op.get("function_type"))
        hinted = "hints" in op.properties
        head = [tables.string(op.get("sym_name")), signature, ENTRY_WITH_HINTS if hinted else ENTRY]
        out = bytearray(b"".join(map(varint, (*head, tables.debug.entry_number(index)))))
        if hinted:
            stored: Any = op.properties["hints"]
            out += encode_entry_hints(tables, stored.data)
    except Unwritable as reason:
        raise Unwritable(str(reason), op) from None
    code = Code(tables)
    code.define(tuple(block.args))
    body = code.block(block)
    return bytes(out + varint(len(body)) + body)


def _global(tables: Tables, op: TileOp) -> bytes:
    """Name, type, value, alignment; from 13.3 on visibility and constness."""
    value = op.get("value")
    if value is None:
        raise Unwritable("the initial value of this global is not in the text", op)
    numbers = [tables.string(op.get("sym_name")), tables.type(op.get("type")), constant(tables, value)]
    numbers.append(op.get("alignment"))
    if tables.version >= 3:
        numbers += [VISIBILITY.index(op.get("visibility")), int(op.get("constant"))]
    return b"".join(map(varint, numbers))
