// Every operation of a plan reaches the builder through its row, with all that it was given.
#include "tests/unit/codegen/StepText.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::test;

static const char *const everyCall = R"(
      plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64,
        parameters = 64 : i64,
        gradients = 64 : i64, state = 0 : i64, arena = 1024 : i64} {
      %x = plan.tensor "x" in arena at 0 reserve 64 live [0, 99] : memref<2x2x2x2xf32>
      %y = plan.tensor "y" in arena at 64 reserve 64 live [0, 99] : memref<2x2x2x2xf32>
      %z = plan.tensor "z" in arena at 128 reserve 64 live [0, 99] : memref<2x2x2x2xf32>
      %m = plan.tensor "m" in arena at 192 reserve 64 live [0, 99] : memref<2x2x2x2xui8>
      %s = plan.tensor "s" in arena at 256 reserve 64 live [0, 99] : memref<2xf32>
      %l = plan.tensor "l" in arena at 320 reserve 64 live [0, 99] : memref<f32>
      %i = plan.tensor "i" in input at 0 reserve 64 : memref<3xi64>
      plan.call convBackwardData "c" ["dy", "w", "dx"] ins(%x, %y : memref<2x2x2x2xf32>,
        memref<2x2x2x2xf32>) outs(%z : memref<2x2x2x2xf32>) {strides = array<i64: 3, 2>,
        dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64:
        0, 0>, groups = 2 : i64}
      plan.call convBackwardWeights "c" ["x", "dy", "dw"] ins(%x, %y : memref<2x2x2x2xf32>,
        memref<2x2x2x2xf32>) outs(%z : memref<2x2x2x2xf32>) {strides = array<i64: 3, 2>,
        dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64:
        0, 0>}
      plan.call batchNormBackward "n" ["x", "scale", "mean", "variance", "workspace", "dy",
        "dx"] ins(%x, %s, %s, %s, %m, %y : memref<2x2x2x2xf32>, memref<2xf32>,
        memref<2xf32>, memref<2xf32>, memref<2x2x2x2xui8>, memref<2x2x2x2xf32>) outs(%z :
        memref<2x2x2x2xf32>) {epsilon = 0.5 : f64}
      plan.call maxPool "q" ["x", "y", "workspace"] ins(%x : memref<2x2x2x2xf32>) outs(%y,
        %m : memref<2x2x2x2xf32>, memref<2x2x2x2xui8>) {kernel = array<i64: 2, 2>, strides =
        array<i64: 1, 2>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>,
        pads_end = array<i64: 0, 0>}
      plan.call maxPoolBackward "q" ["dy", "workspace", "dx"] ins(%y, %m :
        memref<2x2x2x2xf32>, memref<2x2x2x2xui8>) outs(%x : memref<2x2x2x2xf32>) {kernel =
        array<i64: 2, 2>, strides = array<i64: 1, 2>, dilations = array<i64: 1, 1>,
        pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>}
      plan.call averagePool "q" ["x", "y"] ins(%x : memref<2x2x2x2xf32>) outs(%y :
        memref<2x2x2x2xf32>) {kernel = array<i64: 2, 2>, strides = array<i64: 1, 2>,
        dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64:
        0, 0>}
      plan.call averagePoolBackward "q" ["dy", "dx"] ins(%x : memref<2x2x2x2xf32>) outs(%y :
        memref<2x2x2x2xf32>) {kernel = array<i64: 2, 2>, strides = array<i64: 1, 2>,
        dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64:
        0, 0>}
      plan.call reshape "w" ["x", "y"] ins(%x : memref<2x2x2x2xf32>) outs(%y : memref<2x2x2x2xf32>)
      plan.call matmul "mm" ["a", "b", "y"] ins(%x, %y : memref<2x2x2x2xf32>,
        memref<2x2x2x2xf32>) outs(%z : memref<2x2x2x2xf32>) {transpose_b, activation =
        #nn<activation relu>}
      plan.call batchNorm "n" ["x", "scale", "shift", "y", "mean", "variance", "workspace"]
        ins(%x, %s, %s : memref<2x2x2x2xf32>, memref<2xf32>, memref<2xf32>) outs(%y, %s, %s,
        %m : memref<2x2x2x2xf32>, memref<2xf32>, memref<2xf32>, memref<2x2x2x2xui8>)
        {epsilon = 0.5 : f64, momentum = 0.25 : f64, activation = #nn<activation relu>}
      plan.call layerNorm "ln" ["x", "scale", "shift", "y"] ins(%x, %s, %s :
        memref<2x2x2x2xf32>, memref<2xf32>, memref<2xf32>) outs(%y : memref<2x2x2x2xf32>)
        {epsilon = 0.25 : f64}
      plan.call layerNormBackward "ln" ["x", "scale", "dy", "dx", "dshift"] ins(%x, %s, %y :
        memref<2x2x2x2xf32>, memref<2xf32>, memref<2x2x2x2xf32>) outs(%z, %s :
        memref<2x2x2x2xf32>, memref<2xf32>) {epsilon = 0.25 : f64}
      plan.call embedding "em" ["ids", "table", "y"] ins(%i, %x : memref<3xi64>,
        memref<2x2x2x2xf32>) outs(%z : memref<2x2x2x2xf32>)
      plan.call embeddingBackward "em" ["ids", "dy", "dtable"] ins(%i, %x : memref<3xi64>,
        memref<2x2x2x2xf32>) outs(%z : memref<2x2x2x2xf32>)
      plan.call embeddingBackward "em" ["ids", "dy", "onto", "dtable"] ins(%i, %x, %y :
        memref<3xi64>, memref<2x2x2x2xf32>, memref<2x2x2x2xf32>) outs(%z : memref<2x2x2x2xf32>)
      plan.call gatherRows "ga" ["x", "indices", "y"] ins(%x, %i : memref<2x2x2x2xf32>,
        memref<3xi64>) outs(%y : memref<2x2x2x2xf32>) {axis = 3 : i64, shared = 1 : i64}
      plan.call scatterRows "sc" ["updates", "indices", "y"] ins(%x, %i : memref<2x2x2x2xf32>,
        memref<3xi64>) outs(%y : memref<2x2x2x2xf32>) {axis = 2 : i64, kind = 3 : i64,
        shared = 0 : i64}
      plan.call scatterRows "sc" ["updates", "indices", "onto", "y"] ins(%x, %i, %y :
        memref<2x2x2x2xf32>, memref<3xi64>, memref<2x2x2x2xf32>) outs(%z :
        memref<2x2x2x2xf32>) {axis = 2 : i64, kind = 1 : i64, shared = 0 : i64}
      plan.call topK "to" ["x", "values", "indices"] ins(%x : memref<2x2x2x2xf32>) outs(%y, %z :
        memref<2x2x2x2xf32>, memref<2x2x2x2xf32>) {largest}
      plan.call lrn "r" ["x", "y"] ins(%x : memref<2x2x2x2xf32>) outs(%y :
        memref<2x2x2x2xf32>) {size = 3 : i64, alpha = 0.5 : f64, beta = 0.75 : f64, bias =
        2.0 : f64}
      plan.call lrnBackward "r" ["x", "dy", "dx"] ins(%x, %y : memref<2x2x2x2xf32>,
        memref<2x2x2x2xf32>) outs(%z : memref<2x2x2x2xf32>) {size = 3 : i64, alpha = 0.5 :
        f64, beta = 0.75 : f64, bias = 2.0 : f64}
      plan.call softmax "o" ["x", "y"] ins(%x : memref<2x2x2x2xf32>) outs(%y :
        memref<2x2x2x2xf32>) {axis = 3 : i64, logarithm}
      plan.call softmaxBackward "o" ["y", "dy", "dx"] ins(%x, %y : memref<2x2x2x2xf32>,
        memref<2x2x2x2xf32>) outs(%z : memref<2x2x2x2xf32>) {axis = 2 : i64}
      plan.call slice "s" ["x", "y"] ins(%x : memref<2x2x2x2xf32>) outs(%y :
        memref<2x2x2x2xf32>) {starts = array<i64: 0, 1, 2, 3>, steps = array<i64: 1, 2, -1,
        4>}
      plan.call sliceBackward "s" ["dy", "dx"] ins(%x : memref<2x2x2x2xf32>) outs(%y :
        memref<2x2x2x2xf32>) {starts = array<i64: 0, 1, 2, 3>, steps = array<i64: 1, 2, -1,
        4>}
      plan.call pad "p" ["x", "y"] ins(%x : memref<2x2x2x2xf32>) outs(%y :
        memref<2x2x2x2xf32>) {begins = array<i64: 0, -1, 2, 3>, value = 1.5 : f64}
      plan.call transpose "t" ["x", "y"] ins(%x : memref<2x2x2x2xf32>) outs(%y :
        memref<2x2x2x2xf32>) {permutation = array<i64: 3, 1, 0, 2>}
      plan.call reduce "d" ["x", "y"] ins(%x : memref<2x2x2x2xf32>) outs(%s : memref<2xf32>)
        {kind = #nn<reduction mean>, axes = array<i64: 0, 2, 3>}
      plan.call reduce "d" ["x", "y"] ins(%x : memref<2x2x2x2xf32>) outs(%s : memref<2xf32>)
        {kind = #nn<reduction sum>, axes = array<i64: 0, 1, 3>}
      plan.call reduce "d" ["x", "y"] ins(%x : memref<2x2x2x2xf32>) outs(%s : memref<2xf32>)
        {kind = #nn<reduction maximum>, axes = array<i64: 1, 2, 3>}
      plan.call dropout "u" ["x", "y", "mask"] ins(%x : memref<2x2x2x2xf32>) outs(%y, %m :
        memref<2x2x2x2xf32>, memref<2x2x2x2xui8>) {ratio = 0.5 : f64}
      plan.call dropoutBackward "u" ["dy", "mask", "dx"] ins(%x, %m : memref<2x2x2x2xf32>,
        memref<2x2x2x2xui8>) outs(%y : memref<2x2x2x2xf32>) {ratio = 0.5 : f64}
      plan.call recurrent "rc" ["x", "r", "bias", "initial", "lengths", "y", "last", "saved"]
        ins(%x, %y, %x, %y, %i : memref<2x2x2x2xf32>, memref<2x2x2x2xf32>, memref<2x2x2x2xf32>,
        memref<2x2x2x2xf32>, memref<3xi64>) outs(%z, %y, %x : memref<2x2x2x2xf32>,
        memref<2x2x2x2xf32>, memref<2x2x2x2xf32>) {cell = 2 : i64, reverse}
      plan.call recurrentBackward "rc" ["r", "initial", "saved", "dy", "dlast", "dx", "dr"]
        ins(%x, %y, %x, %y, %x : memref<2x2x2x2xf32>, memref<2x2x2x2xf32>, memref<2x2x2x2xf32>,
        memref<2x2x2x2xf32>, memref<2x2x2x2xf32>) outs(%z, %y : memref<2x2x2x2xf32>,
        memref<2x2x2x2xf32>) {cell = 1 : i64}
      plan.call noise "n" ["y"] outs(%y : memref<2x2x2x2xf32>)
        {distribution = 2 : i64, first = 0.25 : f64, second = 0.5 : f64, evaluated = 0.75 : f64}
      plan.call resample "z" ["x", "y"] ins(%x : memref<2x2x2x2xf32>) outs(%y :
        memref<2x2x2x2xf32>) {axes = array<i64: 1, 2, 3>, coordinates = array<i64: 1, -2, 3, 4, 5,
        6, 7, 8, 9>, filter = 5 : i64, cubic_coefficient = -0.5 : f64, exclude_outside}
      plan.call resampleBackward "z" ["dy", "dx"] ins(%x : memref<2x2x2x2xf32>) outs(%y :
        memref<2x2x2x2xf32>) {axes = array<i64: 2>, coordinates = array<i64: 1, 0, 2>, filter = 4 :
        i64, cubic_coefficient = 0.0 : f64, antialias}
      plan.call meanSquaredError "e" ["y", "target", "loss", "dy"] ins(%x, %y :
        memref<2x2x2x2xf32>, memref<2x2x2x2xf32>) outs(%l, %z : memref<f32>,
        memref<2x2x2x2xf32>)
      plan.call concat "a" ["x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "y"]
        ins(%x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x : memref<2x2x2x2xf32>,
        memref<2x2x2x2xf32>, memref<2x2x2x2xf32>, memref<2x2x2x2xf32>, memref<2x2x2x2xf32>,
        memref<2x2x2x2xf32>, memref<2x2x2x2xf32>, memref<2x2x2x2xf32>, memref<2x2x2x2xf32>,
        memref<2x2x2x2xf32>, memref<2x2x2x2xf32>) outs(%z : memref<2x2x2x2xf32>) {axis = 2 :
        i64}
      plan.phase update
    })";

// Lists that do not fit into a row, of operands and of numbers, arrive whole.
TEST(EveryOperation, ArrivesAsItWasPlanned) {
  const std::vector<std::string> expected{
      "convBackwardData s32 g2 x y z",
      "convBackwardWeights s32 g1 x y z none",
      "batchNormBackward 0.5000 x s s s m y z none none",
      "maxPool x y m",
      "maxPoolBackward y m x",
      "averagePool x y",
      "averagePoolBackward x y",
      "reshape x y",
      "matmul nt relu x y none z",
      "batchNorm 0.5000 0.2500 relu x s s none none y s s m",
      "layerNorm 0.2500 x s s y",
      "layerNormBackward 0.2500 x s y z none s",
      "embedding i x z",
      "embeddingBackward i x none z",
      "embeddingBackward i x y z",
      "gatherRows 3 1 x i y",
      "scatterRows 2 0 3 x i none y",
      "scatterRows 2 0 1 x i y z",
      "topK largest x y z",
      "lrn 3 0.5000 0.7500 2.0000 x y",
      "lrnBackward 3 0.5000 0.7500 2.0000 x y z",
      "softmax 3 log x y",
      "softmaxBackward 2 x y z",
      "slice [0,1,2,3] [1,2,-1,4] x y",
      "sliceBackward [0,1,2,3] [1,2,-1,4] x y",
      "pad [0,-1,2,3] 1.5000 x y",
      "transpose [3,1,0,2] x y",
      "mean [0,2,3] x s",
      "sum [0,1,3] x s",
      "maximum [1,2,3] x s",
      "dropout 0.5000 x y m",
      "dropoutBackward 0.5000 x m y",
      "recurrent 2 reverse x y x y i z y x",
      "recurrentBackward 1 x y x y x none z y none none",
      "noise 2 0.2500 0.5000 0.7500 y",
      "resample [1,2,3] [1,-2,3,4,5,6,7,8,9] 5 -0.500 exclude x y",
      "resampleBackward [2] [1,0,2] 4 0.0000 antialias x y",
      "meanSquaredError x y l z",
      "concat 2 x y x y x y x y x y x z",
      "phase update",
  };
  EXPECT_EQ(callsOf(everyCall), expected);
}
