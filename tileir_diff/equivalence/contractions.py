"""Matrix products. The order in which products are summed is the hardware's; here it is torch's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import dtype, element, shape, to_float
from tileir_diff.equivalence.integers import wide, wrapped

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.machine import Handler, Machine


def product(lhs: Tensor, rhs: Tensor) -> Tensor:
    """Products of the last two dimensions; blocks and batches are broadcast."""
    if lhs.shape[0] == 1 and rhs.shape[0] == 1:
        return torch.matmul(lhs, rhs)
    blocks = max(lhs.shape[0], rhs.shape[0])
    lhs, rhs = lhs.expand(blocks, *lhs.shape[1:]), rhs.expand(blocks, *rhs.shape[1:])
    return torch.matmul(lhs, rhs)


def mmaf(m: Machine, op: TileOp) -> None:
    lhs_value, rhs_value, acc_value = op.operands
    name, result = element(lhs_value), element(acc_value)
    single = torch.float64 if result == "f64" else torch.float32
    lhs, rhs = (to_float(m.full(value), name).to(single) for value in (lhs_value, rhs_value))
    total = product(lhs, rhs) + m.get(acc_value).to(single)
    total = total.to(dtype(result))
    if m.noise is not None:
        total = m.noise.shifted(
            total, result, product(lhs.abs(), rhs.abs()) + m.get(acc_value).to(single).abs()
        )
    m.set(op, total)
    depth = shape(lhs_value)[-1]
    bound = f"{depth} roundings of {result} and the order of {depth} sums"
    m.free(op, "mmaf", f"{bound}; sums of fewer digits (fast_acc)" if op.get("fast_acc") else bound)


def mmai(m: Machine, op: TileOp) -> None:
    lhs = wide(m.full(op.operands[0]), "i8", op.get("signed_lhs") == "signed")
    rhs = wide(m.full(op.operands[1]), "i8", op.get("signed_rhs") == "signed")
    # Exact in f64: at most 2^24 products of less than 2^16.
    total = product(lhs.double(), rhs.double()).to(torch.int64) + m.get(op.operands[2]).to(torch.int64)
    m.set(op, wrapped(total, "i32"))


def mmaf_scaled(m: Machine, op: TileOp) -> None:
    lhs_value, rhs_value, acc_value, lhs_scale, rhs_scale = op.operands
    depth = shape(lhs_value)[-1]
    lhs = to_float(m.full(lhs_value), element(lhs_value)).double()
    rhs = to_float(m.full(rhs_value), element(rhs_value)).double()
    block = depth // shape(lhs_scale)[-1]
    lhs = lhs * _scales(m, lhs_scale).repeat_interleave(block, dim=-1)
    rhs = rhs * _scales(m, rhs_scale).repeat_interleave(block, dim=-2)
    total = (product(lhs, rhs) + m.get(acc_value).double()).float()
    if m.noise is not None:
        total = m.noise.shifted(total, "f32", product(lhs.abs(), rhs.abs()) + m.get(acc_value).double().abs())
    m.set(op, total)
    m.free(op, "mmaf_scaled", f"{depth} roundings of f32 and the order of {depth} sums")


def _scales(m: Machine, value: SSAValue) -> Tensor:
    return to_float(m.full(value), element(value)).double()


HANDLERS: dict[str, Handler] = {"mmaf": mmaf, "mmaf_scaled": mmaf_scaled, "mmai": mmai}
