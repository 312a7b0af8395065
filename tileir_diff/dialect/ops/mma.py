"""Matrix multiply and accumulate."""

from tileir_diff.dialect.spec import SIGNED, AttributeSpec, op

FAST_ACC = AttributeSpec("fast_acc", "flag", "bool", default=False, odsname="fast_acc", since="13.3")

OPS = (
    op("mmaf", 0x49, "lhs rhs acc", "lhs, rhs, acc=result", FAST_ACC,
       doc="lhs x rhs + acc: `mmaf %a, %b, %c : tile<4x8xf16>, tile<8x2xf16>, tile<4x2xf32>`."),
    op("mmai", 0x4A, "lhs rhs acc", "lhs, rhs, acc=result",
       SIGNED.with_(name="signed_lhs", odsname="signedness_lhs"),
       SIGNED.with_(name="signed_rhs", odsname="signedness_rhs"),
       doc="Integer lhs x rhs + acc: `mmai %a, %b, %c signed unsigned : tile<4x8xi8>, tile<8x2xi8>, "
           "tile<4x2xi32>`."),
    op("mmaf_scaled", 0x72, "lhs rhs acc lhs_scale rhs_scale", "lhs, rhs, acc=result, lhs_scale, rhs_scale",
       since="13.3",
       doc="With a scale for each block of K: `mmaf_scaled %a, %b, %c, %sa, %sb : ...` (five types)."),
)  # fmt: skip
