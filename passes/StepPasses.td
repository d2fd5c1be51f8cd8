// The passes over the step of one rank, in pipeline order.
#ifndef SYNCLINE_STEP_PASSES_TD
#define SYNCLINE_STEP_PASSES_TD

include "mlir/Pass/PassBase.td"

def Differentiate : Pass<"differentiate", "::syncline::nn::StepOp"> {
  let summary = "appends the backward pass and one update a parameter";
  let description = [{
    Reverse-mode differentiation of the step's loss, one rule per operation behind
    `DifferentiableOpInterface`. Walks from the loss to the step's beginning; only values that
    depend on a parameter and reach the loss get a gradient. Gradients of a value with several uses
    are added as they arrive (later uses first), so at most one partial sum is live. Within a layer
    the weight gradient comes before the data gradient: it is ready one operation earlier, and its
    message can leave while the data gradient is computed.

    Assumes: one `nn.loss`; no updates yet; no fused activations or `nn.pointwise` between a
    parameter and the loss.
    Ensures: every parameter has one `nn.update`; updates stand at the end, in the order in which
    gradients are complete; the gradient of an update has no other use; backward operations carry
    `nn.backward` and the `nn.layer` they come from.
    Fails: where an operation has no derivative; on a parameter that has no gradient.

    ```mlir
    // Before
    %y = nn.matmul %x, %w {transpose_b} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    %l, %d = nn.cross_entropy %y, %t
        : (tensor<4x2xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x2xf32>)
    nn.loss %l : tensor<f32>
    // After: the same, and
    %dw = nn.matmul %d, %x {nn.backward, transpose_a}
        : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    nn.update %w, %dw : tensor<2x8xf32>, tensor<2x8xf32>
    ```
  }];
}

def FuseActivations : Pass<"fuse-activations", "::syncline::nn::StepOp"> {
  let summary = "joins relu to the batch_norm, convolution or matrix product before it";
  let description = [{
    Where relu is the one use of a batch_norm, and relu's derivative is the one gradient that
    batch_norm's backward takes, both halves are fused; a mask is kept for backward. Where relu is
    the one use of a convolution or a product, forward is fused and the derivative stays: it reads
    the result, which is the same. Saves one pass over memory each way.

    Assumes: differentiated, or never to be. Ensures: the same values.

    ```mlir
    // Before
    %y = nn.conv %x, %w {...} : (...) -> tensor<4x8x9x9xf32>
    %r = nn.unary relu %y : tensor<4x8x9x9xf32>
    // After
    %r = nn.conv %x, %w {..., activation = #nn<activation relu>} : (...) -> tensor<4x8x9x9xf32>
    ```
  }];
}

def FuseRows : Pass<"fuse-rows", "::syncline::nn::StepOp"> {
  let summary = "adds an embedding's rows onto the rest of the table's gradient";
  let description = [{
    Where a parameter is an embedding's table and has other readers (tied weights), its gradient is
    a sum. An embedding's summand is zero but for the rows that were looked up. It becomes part of
    the addition, which touches these rows alone where the other summand has no other reader: then
    no table of zeroes is filled and added. Rows are summed in double and rounded once.

    `keep-tied` leaves sums that an update takes, so that their parts can travel apart.

    Assumes: differentiated. Ensures: the same values, but for one rounding less a row.

    ```mlir
    // Before
    %e = nn.embedding_backward %ids, %dy : (tensor<8xi64>, tensor<8x4xf32>) -> tensor<36x4xf32>
    %s = nn.binary add %head, %e : (tensor<36x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
    // After
    %s = nn.embedding_backward %ids, %dy onto %head
        : (tensor<8xi64>, tensor<8x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
    ```
  }];
  let options = [Option<"keepTied", "keep-tied", "bool", "false",
                        "Leave sums that an update takes">];
}

def FusePointwise : Pass<"fuse-pointwise", "::syncline::nn::StepOp"> {
  let summary = "joins elementwise operations into few loops with scalar bodies";
  let description = [{
    Replaces unary, unary_backward, binary, prelu_backward and broadcast by `nn.pointwise`:
    neighbours in the graph share a loop, so that what passes between them never reaches memory.
    Constants of one value become part of the body. The rules of grouping are in PointwiseGroups.h:
    order and the readiness of gradients are kept, and a loop that broadcasts, which walks plain
    memory, does not pull more big tensors out of their blocked layouts. A loop carries the sum of
    its members' `nn.seconds`, where all have one.

    Assumes: floating-point elements. Ensures: no elementwise operation is left; the same values.

    ```mlir
    // Before
    %s = nn.binary add %a, %b : (tensor<4x9xf32>, tensor<4x9xf32>) -> tensor<4x9xf32>
    %y = nn.unary relu %s : tensor<4x9xf32>
    // After
    %y = nn.pointwise %a, %b : (tensor<4x9xf32>, tensor<4x9xf32>) -> tensor<4x9xf32> {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      %zero = arith.constant 0.0 : f32
      %negative = arith.cmpf olt, %s, %zero : f32
      %r = arith.select %negative, %zero, %s : f32
      nn.yield %r : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def Cost : Pass<"cost", "::syncline::nn::StepOp"> {
  let summary = "predicts the time of every operation";
  let description = [{
    Sets `nn.seconds` on every operation that takes time. Seconds come from the module's
    `cluster.profile` where it has the operation's layer and phase: shared out among the layer's
    operations of that phase in proportion to their roofline. Otherwise they are those of its
    kernels where the device of the module's `cluster.spec` has `kernels`, and else max(flops /
    compute rate, bytes / memory rate) + launch overhead. The models are described in
    passes/cost/README.md.

    Assumes: a module with `cluster.spec` around the step.
    Ensures: `nn.seconds` wherever `timelineOf` needs it; earlier values are replaced.
    Fails: on an operation for which there is neither a profile nor a rate; on a profile that names
    none of the step's layers.

    ```mlir
    // Before, in a module with cluster.spec = #cluster.spec<...,
    //   device = <compute = 1.0e+09, memory = 1.0e+09, launchOverhead = 0.0>, ...>
    %y = nn.matmul %x, %w {transpose_b} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    // After: 128 operations, 224 bytes
    %y = nn.matmul %x, %w {nn.seconds = 2.24e-07 : f64, transpose_b}
        : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    ```
  }];
}

def PrintKernels : Pass<"print-kernels", "::syncline::nn::StepOp"> {
  let summary = "prints the kernels that a framework runs for a step";
  let description = [{
    Prints a line for each distinct kernel: how many there are, class, flops, bytes, m, n, k, batch,
    steps, launches, bytes of channels that come first, and whether Winograd's algorithm serves
    (passes/cost/DeviceModel.h). The module's `nn.precision` decides the bytes.

    Assumes: differentiated and fused. Ensures: the step is unchanged.

    ```mlir
    %y = nn.matmul %x, %w {transpose_b} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    // Prints: 1 product 128 224 4 2 8 1 1 1 0 0
    ```
  }];
  let options = [Option<"like", "like", "std::string", "\"pytorch\"", "whose kernels they are">];
}

def Recompute : Pass<"recompute", "::syncline::nn::StepOp"> {
  let summary = "computes results of the forward pass again instead of keeping them";
  let description = [{
    Repeats operations of the named blocks, or of those that free so many bytes in the fewest
    seconds, in front of their first readers in the backward pass, so that their results need not be
    kept. What others read in the forward pass is kept. Stands behind the fusions, so that
    repetitions have the same bits, and behind `cost`, for their seconds.

    Assumes: differentiated, fused and timed. Ensures: the same values; repetitions carry
    `nn.backward`, `nn.recomputed` and the operation's layer; a repeated batch_norm has momentum 0;
    the step has `nn.recomputation`. Fails: on a glob that matches no layer.

    ```mlir
    // Before, with globs=block; %x is kept, %h is not
    %h = nn.layer_norm %x, %s {nn.layer = "block/norm"} : ...
    %dw = nn.matmul %dy, %h {nn.backward, ...} : ...
    // After, in place of the last line
    %a = nn.layer_norm %x, %s {nn.backward, nn.layer = "block/norm", nn.recomputed} : ...
    %dw = nn.matmul %dy, %a {nn.backward, ...} : ...
    ```
  }];
  let options = [
    ListOption<"globs", "globs", "std::string", "blocks by name, e.g. /encoder/layers.*">,
    Option<"free", "free", "std::int64_t", "0",
           "in place of globs: free so many bytes of the arena in the fewest seconds">,
  ];
}

#endif
