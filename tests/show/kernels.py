"""Small kernels that show prints: rows of a matrix in a persistent loop, a masked copy, an atomic loop."""

from __future__ import annotations

ROWS = """\
entry @rows(%a: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %s: tile<i32>, %b: tile<ptr<f32>>, %scale: \
tile<f32>, \
%no: tile<i32>) optimization_hints=<sm_100 = {occupancy = 4}> {
  %base = assume div_by<16>, %a : tile<ptr<f32>>
  %rows = assume bounded<0, ?>, %m : tile<i32>
  %again = assume bounded<0, ?>, %m : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
  %tv = make_tensor_view %base, shape = [%rows, %n], strides = [%s, 1] : tile<i32> -> tensor_view<?x?xf32, \
strides=[?,1]>
  %pv = make_partition_view %tv : partition_view<tile=(1x64), padding_value = zero, tensor_view<?x?xf32, \
strides=[?,1]>>
  %otv = make_tensor_view %b, shape = [%rows], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %ov = make_partition_view %otv : partition_view<tile=(1), tensor_view<?xf32, strides=[1]>>
  for %row in (%bx to %rows, step %gx) : tile<i32> {
    %x, %t = load_view_tko weak %pv[%row, %c0] optimization_hints = <default = {allow_tma = false}> : \
partition_view<tile=(1x64), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> \
tile<1x64xf32>, token
    %dead = addf %x, %x : tile<1x64xf32>
    %r = reduce %x dim=1 identities=[0.000000e+00 : f32] : tile<1x64xf32> -> tile<1xf32>
    (%l: tile<f32>, %q: tile<f32>) {
      %y = addf %l, %q : tile<f32>
      yield %y : tile<f32>
    }
    %k = reshape %scale : tile<f32> -> tile<1xf32>
    %z = mulf %r, %k rounding<zero> flush_to_zero : tile<1xf32>
    %u = store_view_tko weak %z, %ov[%row] : tile<1xf32>, partition_view<tile=(1), tensor_view<?xf32, \
strides=[1]>>, \
tile<i32> -> token
  }
  return
}
"""

MASKED = """\
entry @masked(%a: tile<ptr<f16>>, %b: tile<ptr<f32>>, %n: tile<i32>, %stride: tile<i32>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %c64 = constant <i32: 64> : tile<i32>
  %pad = constant <f16: 1.500000e+00> : tile<64xf16>
  %lane = iota : tile<64xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %ns = broadcast %n1 : tile<1xi32> -> tile<64xi32>
  %inside = cmpi less_than %lane, %ns, signed : tile<64xi32> -> tile<64xi1>
  %start = muli %bx, %stride : tile<i32>
  %s1 = reshape %start : tile<i32> -> tile<1xi32>
  %ss = broadcast %s1 : tile<1xi32> -> tile<64xi32>
  %i = addi %ss, %lane : tile<64xi32>
  %a1 = reshape %a : tile<ptr<f16>> -> tile<1xptr<f16>>
  %as = broadcast %a1 : tile<1xptr<f16>> -> tile<64xptr<f16>>
  %b1 = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bs = broadcast %b1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %from = offset %as, %i : tile<64xptr<f16>>, tile<64xi32> -> tile<64xptr<f16>>
  %to = offset %bs, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %x, %t = load_ptr_tko acquire device %from, %inside, %pad : tile<64xptr<f16>>, tile<64xi1>, tile<64xf16> \
-> \
tile<64xf16>, token
  %y = ftof %x : tile<64xf16> -> tile<64xf32>
  %more = cmpi greater_than %n, %c64, signed : tile<i32> -> tile<i1>
  assert %more, "rows \\22too\\22 short" : tile<i1>
  if %more {
    %u = store_ptr_tko weak %to, %y, %inside token=%t : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token
    %p = print_tko "%d", %n token=%u : tile<i32> -> token
  }
  return
}
"""

PRODUCT = """\
entry @product(%a: tile<ptr<f16>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c3 = constant <i32: 3> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.000000e+00> : tile<16x16xf32>
  %tv = make_tensor_view %a, shape = [16, 48], strides = [48, 1] -> tensor_view<16x48xf16, strides=[48,1]>
  %pv = make_partition_view %tv : partition_view<tile=(16x16), tensor_view<16x48xf16, strides=[48,1]>>
  %acc = for %k in (%c0 to %c3, step %c1) : tile<i32> iter_values(%v = %zero) -> (tile<16x16xf32>) {
    %x, %t = load_view_tko weak %pv[%c0, %k] : partition_view<tile=(16x16), tensor_view<16x48xf16, \
strides=[48,1]>>, \
tile<i32> -> tile<16x16xf16>, token
    %y = mmaf %x, %x, %v : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
    continue %y : tile<16x16xf32>
  }
  %h = ftof %acc : tile<16x16xf32> -> tile<16x16xf16>
  %u = store_view_tko weak %h, %pv[%c0, %c0] : tile<16x16xf16>, partition_view<tile=(16x16), \
tensor_view<16x48xf16, strides=[48,1]>>, tile<i32> -> token
  return
}
"""

GROUPED = """\
entry @grouped(%a: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>) {
  %c8 = constant <i32: 8> : tile<i32>
  %c4 = constant <i32: 4> : tile<i32>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %tv = make_tensor_view %a, shape = [%m, %n], strides = [512, 1] : tile<i32> -> tensor_view<?x?xf32, \
strides=[512,1]>
  %pv = make_partition_view %tv : partition_view<tile=(16x16), tensor_view<?x?xf32, strides=[512,1]>>
  %row = remi %bx, %c8 signed : tile<i32>
  %first = divi %bx, %c8 signed : tile<i32>
  for %col in (%first to %n, step %c4) : tile<i32> {
    %x, %t = load_view_tko weak %pv[%row, %col] : \
partition_view<tile=(16x16), tensor_view<?x?xf32, strides=[512,1]>>, tile<i32> -> tile<16x16xf32>, token
    %y = mulf %x, %x : tile<16x16xf32>
    %u = store_view_tko weak %y, %pv[%row, %col] token=%t : tile<16x16xf32>, \
partition_view<tile=(16x16), tensor_view<?x?xf32, strides=[512,1]>>, tile<i32> -> token
  }
  return
}
"""
