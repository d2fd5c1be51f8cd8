// The tests' plans.
#include "tests/unit/codegen/PlanModule.h"

#include "passes/RegisterAll.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace syncline::test {

static mlir::DialectRegistry allDialects() {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  return registry;
}

PlanModule::PlanModule() : context(allDialects()) {}

mlir::OwningOpRef<mlir::ModuleOp> PlanModule::parse(const std::string &text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  EXPECT_TRUE(module);
  return module;
}

static const char *const agreement = R"(
  sync.problem @merge layers ["fc.weight", "conv.weight"] bytes [64, 32] ready <[1.0, 2.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>]
    forward_end 0.5 backward_end 2.5 updates 0.25
  sync.solution of @merge by "optimal"
    messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 1.0, start = 1.0, end = 2.0>,
              #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 32, ready = 2.0, start = 2.0, end = 3.0>]
    finish 3.0 bound 3.0 certificate #sync.times<[0.0, 2.0, 3.0]>
  sync.prediction of @merge ready <[1.0, 2.0]> start <[1.0, 2.0]> end <[2.0, 3.0]> reconstructed <[2.0, 3.0]>
    exposed <[0.0, 0.5]> forward_end 0.5 backward_end 2.5 communication_end 3.0 reconstruction_end 3.0 updates 0.25 step 3.125
)";

static const char *const cluster =
    R"(cluster.spec = #cluster.spec<name = "two", ranks = 2,
       device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>]>)";

std::string smallTrace() {
  return std::string("module attributes {") + cluster + "} {" + agreement + "}";
}

std::string smallNetwork() {
  return std::string("module attributes {") + cluster + "} {" + agreement + R"(
plan.program @small ranks 2 batch 4 spaces {input = 1024 : i64, target = 64 : i64, parameters = 192 : i64,
    gradients = 192 : i64, state = 64 : i64, arena = 8192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 1024 : memref<4x1x8x8xf32>
  %t = plan.tensor "label" in target at 0 reserve 64 : memref<4xi64>
  %shift = plan.tensor "constant/0" in state at 0 reserve 64 {init = dense<[[[0.5]], [[1.0]]]> : tensor<2x1x1xf32>}
    : memref<2x1x1xf32>
  %fc = plan.tensor "fc.weight" in parameters at 0 reserve 128
    {bucket = 0 : i64, init = #nn.init<normal, 0.0 : f64, 0.1 : f64>} : memref<2x8xf32>
  %w = plan.tensor "conv.weight" in parameters at 128 reserve 64 {bucket = 1 : i64, values = 64 : i64}
    : memref<2x1x2x2xf32>
  %dfc = plan.tensor "fc.weight" in gradients at 0 reserve 128 {bucket = 0 : i64} : memref<2x8xf32>
  %dw = plan.tensor "conv.weight" in gradients at 128 reserve 64 {bucket = 1 : i64} : memref<2x1x2x2xf32>
  %c = plan.tensor "conv" in arena at 0 reserve 512 live [0, 9] : memref<4x2x4x4xf32>
  %r = plan.tensor "relu" in arena at 512 reserve 512 live [1, 9] : memref<4x2x4x4xf32>
  %s = plan.tensor "shifted" in arena at 1024 reserve 512 live [2, 12] : memref<4x2x4x4xf32>
  %p = plan.tensor "pool" in arena at 1536 reserve 128 live [3, 9] : memref<4x2x2x2xf32>
  %f = plan.tensor "flat" in arena at 1664 reserve 128 live [4, 9] : memref<4x8xf32>
  %y = plan.tensor "logits" in arena at 1792 reserve 64 live [5, 9] {output} : memref<4x2xf32>
  %l = plan.tensor "loss" in arena at 1856 reserve 64 live [6, 9] : memref<f32>
  %dy = plan.tensor "dy" in arena at 1920 reserve 64 live [6, 9] : memref<4x2xf32>
  plan.bucket 0 members ["fc.weight"] by ring channel 0 at 0 extent 128 bytes 64
  plan.bucket 1 members ["conv.weight"] by ring channel 0 at 128 extent 64 bytes 32
  plan.phase forward
  plan.call conv "conv" ["x", "w", "y"] ins(%x, %w : memref<4x1x8x8xf32>, memref<2x1x2x2xf32>)
    outs(%c : memref<4x2x4x4xf32>) {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
    pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, groups = 1 : i64}
  plan.pointwise "relu" ins(%c : memref<4x2x4x4xf32>) outs(%r : memref<4x2x4x4xf32>) attributes {flat, keeps_zero} {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %e, %zero : f32
    plan.yield %m : f32
  }
  plan.pointwise "shift" ins(%r, %shift : memref<4x2x4x4xf32>, memref<2x1x1xf32>) outs(%s : memref<4x2x4x4xf32>) {
  ^bb0(%e: f32, %k: f32):
    %m = arith.addf %e, %k : f32
    plan.yield %m : f32
  }
  plan.call averagePool "pool" ["x", "y"] ins(%s : memref<4x2x4x4xf32>) outs(%p : memref<4x2x2x2xf32>)
    {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
    pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>}
  plan.call reshape "flatten" ["x", "y"] ins(%p : memref<4x2x2x2xf32>) outs(%f : memref<4x8xf32>)
  plan.call matmul "fc" ["a", "b", "y"] ins(%f, %fc : memref<4x8xf32>, memref<2x8xf32>) outs(%y : memref<4x2xf32>)
    {transpose_b}
  plan.call crossEntropy "loss" ["logits", "target", "loss", "dlogits"] ins(%y, %t : memref<4x2xf32>, memref<4xi64>)
    outs(%l, %dy : memref<f32>, memref<4x2xf32>) {smoothing = 0.25 : f64}
  plan.loss %l : memref<f32>
  plan.phase backward
  plan.call matmul "fc" ["a", "b", "y"] ins(%dy, %f : memref<4x2xf32>, memref<4x8xf32>) outs(%dfc : memref<2x8xf32>)
    {transpose_a}
  plan.issue 0
  plan.call convBackwardWeights "conv" ["x", "dy", "dw"] ins(%x, %s : memref<4x1x8x8xf32>, memref<4x2x4x4xf32>)
    outs(%dw : memref<2x1x2x2xf32>) {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
    pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, groups = 1 : i64}
  plan.issue 1
  plan.phase update
  plan.wait 0
  plan.update 0
  plan.wait 1
  plan.update 1
}
})";
}

} // namespace syncline::test
