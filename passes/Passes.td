// All passes of Syncline, in pipeline order.
#ifndef SYNCLINE_PASSES_TD
#define SYNCLINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Differentiate : Pass<"differentiate", "::syncline::nn::StepOp"> {
  let summary = "appends the backward pass and one update a parameter";
  let description = [{
    Reverse-mode differentiation of the step's loss, one rule per operation behind `DifferentiableOpInterface`. Walks from the
    loss to the step's beginning; only values that depend on a parameter and reach the loss get a gradient. Gradients of a value
    with several uses are added as they arrive (later uses first), so at most one partial sum is live. Within a layer the weight
    gradient comes before the data gradient: it is ready one operation earlier, and its message can leave while the data
    gradient is computed.

    Assumes: one `nn.loss`; no updates yet; no fused activations or `nn.pointwise` between a parameter and the loss.
    Ensures: every parameter has one `nn.update`; updates stand at the end, in the order in which gradients are complete; the
    gradient of an update has no other use; backward operations carry `nn.backward` and the `nn.layer` they come from.
    Fails: where an operation has no derivative; on a parameter that does not reach the loss.

    ```mlir
    // Before
    %y = nn.matmul %x, %w {transpose_b} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    %l, %d = nn.cross_entropy %y, %t : (tensor<4x2xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x2xf32>)
    nn.loss %l : tensor<f32>
    // After: the same, and
    %dw = nn.matmul %d, %x {nn.backward, transpose_a} : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    nn.update %w, %dw : tensor<2x8xf32>, tensor<2x8xf32>
    ```
  }];
}

def Cost : Pass<"cost", "::syncline::nn::StepOp"> {
  let summary = "predicts the time of every operation";
  let description = [{
    Sets `nn.seconds` on every operation that takes time. Seconds come from the module's `cluster.profile` where it has the
    operation's layer and phase: shared out among the layer's operations of that phase in proportion to their roofline.
    Otherwise they are max(flops / compute rate, bytes / memory rate) + launch overhead, with the rates of the module's `cluster.spec`.
    The model is described in passes/cost/README.md.

    Assumes: a module with `cluster.spec` around the step.
    Ensures: `nn.seconds` wherever `timelineOf` needs it; earlier values are replaced.
    Fails: on an operation for which there is neither a profile nor a rate; on a profile that names none of the step's layers.

    ```mlir
    // Before, in a module with cluster.spec = #cluster.spec<..., device = <compute = 1.0e+09, memory = 1.0e+09, launchOverhead = 0.0>, ...>
    %y = nn.matmul %x, %w {transpose_b} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    // After: 128 operations, 224 bytes
    %y = nn.matmul %x, %w {nn.seconds = 2.24e-07 : f64, transpose_b} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    ```
  }];
}

#endif
