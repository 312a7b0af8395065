"""On a GPU: the products of matrices through TileGym's own functions with our backend, against torch.

Every type; shapes that no tile divides; rows with gaps, odd addresses, and matrices whose rows are not
adjacent. TileGym's cuTile backend is not asked: it would search a tiling for each of these shapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cases as table
import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

OPERATORS: Final = ("matmul", "bmm")
TURNED: Final = "turned"
"""A layout of the inputs beside those of the cases: columns are adjacent, rows are not."""


def cases() -> Iterator[table.Case]:
    """The cases of products that are not for the benchmark, and the first of each form and type turned."""
    seen: set[tuple[str, str, str]] = set()
    for case in table.cases():
        if case.operator not in OPERATORS or case.timed:
            continue
        yield case
        key = (case.operator, case.form, case.dtype)
        if key not in seen:
            seen.add(key)
            yield case._replace(layout=TURNED)


def call(case: table.Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    """What TileGym's function gives, with the backend that is set."""
    import tilegym

    form, _, letters = case.form.partition("-")
    turns = [letter == "t" for letter in letters] or [False, False]
    function = getattr(tilegym.ops, case.operator)
    return function(given["a"], given["b"], *turns, static_persistent=form == "persistent")


def tensors(case: table.Case, device: str) -> dict[str, torch.Tensor]:
    given = table.tensors(case, device)
    if case.layout == TURNED:
        given |= {name: given[name].mT.contiguous().mT for name in ("a", "b")}
    return given


def judged(case: table.Case, device: str = "cuda") -> dict[str, Any]:
    entry: dict[str, Any] = {"case": case.name, "operator": case.operator, "right": False}
    try:
        given = tensors(case, device)
        before = {name: given[name].clone() for name in ("a", "b")}
        result = call(case, given)
        torch.cuda.synchronize()
        expected = table.OPERATORS[case.operator].expected(case, given)
        entry["error"] = table.error(case, given, result, expected)
        kept = all(torch.equal(given[name], value) for name, value in before.items())
        typed = result.dtype == given["a"].dtype and result.shape == expected.shape
        entry["right"] = kept and typed and entry["error"] <= table.tolerance(case)
    except Exception as error:  # a case that fails is a result
        entry["fault"] = f"{type(error).__name__}: {error}"
    return entry
