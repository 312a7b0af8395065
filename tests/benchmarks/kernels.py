"""A small kernel with a bit of everything, as the disassembler prints it."""

from __future__ import annotations

KERNEL = """\
entry @rows(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<i32>, %arg3: tile<ptr<f32>>)
    optimization_hints=<default = {occupancy = 2}> {
  %0 = make_token : token
  %assume = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_0 = assume bounded<0, ?>, %arg1 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %1 = iota : tile<8xi32>
  %reshape = reshape %assume_0 : tile<i32> -> tile<1xi32>
  %bcast = broadcast %reshape : tile<1xi32> -> tile<8xi32>
  %2 = cmpi less_than %1, %bcast, signed : tile<8xi32> -> tile<8xi1>
  %3 = muli %blockId_x, %arg2 : tile<i32>
  %reshape_1 = reshape %3 : tile<i32> -> tile<1xi32>
  %bcast_2 = broadcast %reshape_1 : tile<1xi32> -> tile<8xi32>
  %4 = addi %bcast_2, %1 : tile<8xi32>
  %reshape_3 = reshape %assume : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_4 = broadcast %reshape_3 : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %5 = offset %bcast_4, %4 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %cst_f32 = constant <f32: 0.000000e+00> : tile<8xf32>
  %result, %result_token = load_ptr_tko weak %5, %2, %cst_f32 token=%0
    : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token
  %reduce = reduce %result dim=0 identities=[0.000000e+00 : f32] : tile<8xf32> -> tile<f32>
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %9 = addf %reduce_lhs, %reduce_rhs  : tile<f32>
    yield %9 : tile<f32>
  }
  %reshape_5 = reshape %reduce : tile<f32> -> tile<1xf32>
  %bcast_6 = broadcast %reshape_5 : tile<1xf32> -> tile<8xf32>
  %6 = subf %result, %bcast_6  : tile<8xf32>
  %7 = mulf %6, %6  : tile<8xf32>
  %reshape_7 = reshape %arg3 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_8 = broadcast %reshape_7 : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %8 = offset %bcast_8, %4 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %10 = store_ptr_tko weak %8, %6, %2 token=%0 : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  return
}
"""
