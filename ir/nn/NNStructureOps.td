// The parts of a step besides computation: its data, parameters, loss and updates.
#ifndef SYNCLINE_NN_STRUCTURE_OPS_TD
#define SYNCLINE_NN_STRUCTURE_OPS_TD

include "ir/nn/NNDialect.td"

def NN_StepOp
    : NN_Op<"step", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "one training step of one rank";
  let description = [{
    The body holds the step's operations in program order, which is the order of execution. `batch`
    is the number of samples on each rank.

    ```mlir
    nn.step @mlp batch 16 {
      %x = nn.input "x" : tensor<16x784xf32>
      ...
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$batch);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `batch` $batch attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

class NN_SourceOp<string mnemonic, string what> : NN_Op<mnemonic> {
  let summary = what;
  let arguments = (ins StrAttr:$name);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

def NN_InputOp : NN_SourceOp<"input", "this rank's samples"> {
  let description = [{
    Each step fills the batch anew: `%x = nn.input "data" : tensor<4x3x224x224xf32>`. `of` names the
    model's input whose integers the input holds in floating point, so that operations can compute
    with them.
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<StrAttr>:$of);
  let extraClassDeclaration = [{
    /// The model's input whose values the input holds.
    ::llvm::StringRef source() { return getOf().value_or(getName()); }
  }];
}

def NN_TargetOp : NN_SourceOp<"target", "what the loss compares the output with"> {
  let description = [{
    Class indices or values, which each step fills anew: `%t = nn.target "label" : tensor<4xi64>`.
  }];
}

class NN_StoredOp<string mnemonic, string what, dag marks = (ins)> : NN_Op<mnemonic> {
  let summary = what;
  let arguments = !con((ins StrAttr:$name, OptionalAttr<I64Attr>:$offset,
                            OptionalAttr<NN_InitAttr>:$init), marks);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$name (`at` $offset^)? (`init` $init^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NN_ParameterOp : NN_StoredOp<"parameter", "a trained tensor"> {
  let description = [{
    Its values start at byte `offset` of the plan's weights file, or are made by `init`. Each tensor
    has one such operation: a tied parameter has several uses and one gradient.

    ```mlir
    %w = nn.parameter "fc.weight" at 4096 : tensor<10x64xf32>
    ```
  }];
}

def NN_StateOp : NN_StoredOp<"state", "a tensor kept between steps that is not trained",
                             (ins UnitAttr:$fixed)> {
  let description = [{
    States are running statistics, frozen parameters and large constants of the model. A constant
    that is the plan's own, and not the model's, is `fixed` where its values are too many for the
    IR.

    ```mlir
    %m = nn.state "bn.running_mean" init <constant, 0.0 : f64, 0.0 : f64> : tensor<64xf32>
    ```
  }];
}

def NN_ConstantOp : NN_ComputeOp<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a small constant tensor";
  let description = [{
    `%c = nn.constant dense<0.5> : tensor<1xf32>`. Large constants are `nn.state`.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

def NN_OutputOp : NN_Op<"output"> {
  let summary = "names the model's output";
  let description = [{
    Evaluation reads the output after the forward pass: `nn.output %y "logits" : tensor<4x10xf32>`.
  }];
  let arguments = (ins NN_Tensor:$value, StrAttr:$name);
  let assemblyFormat = "$value $name attr-dict `:` type($value)";
}

def NN_LossOp : NN_Op<"loss"> {
  let summary = "the scalar that is minimised; differentiation starts here";
  let description = [{`nn.loss %l : tensor<f32>`, at most once in a step (NN2).}];
  let arguments = (ins NN_Scalar:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def NN_UpdateOp : NN_Op<"update"> {
  let summary = "the optimizer's step for one parameter";
  let description = [{
    A parameter has at most one update (NN4). `gradient` is this rank's until `insert-gradients`
    puts a `sync.gradient` before it: `nn.update %w, %dw : tensor<10x64xf32>`.
  }];
  let arguments = (ins NN_Tensor:$parameter, NN_Tensor:$gradient);
  let assemblyFormat = [{
    $parameter `,` $gradient attr-dict `:` type($parameter) `,` type($gradient)
  }];
  let hasVerifier = 1;
}

def NN_CrossEntropyOp : NN_ComputeOp<"cross_entropy"> {
  let summary = "mean of -log softmax(logits)[target], and its gradient";
  let description = [{
    logits is [N, C, ...] or [N, ..., C], target is [N, ...] and holds class indices, or -100 where
    a position is ignored (NN30). With `smoothing` s the loss of a position is 1 - s of its label's
    and s of the mean over all classes. `weights`, one a class, multiply the loss of each class; the
    mean divides by the sum of the labels' weights. The second result is the gradient of the loss
    with respect to the logits. One operation computes both, because both need the same softmax.

    ```mlir
    %l, %d = nn.cross_entropy %logits, %t
             : (tensor<4x10xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x10xf32>)
    ```
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_Tensor:$target,
                       Optional<NN_FloatTensor>:$weights, OptionalAttr<F64Attr>:$smoothing);
  let results = (outs NN_Scalar:$loss, NN_FloatTensor:$gradient);
  let assemblyFormat = [{
    $logits `,` $target (`weights` $weights^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_MeanSquaredErrorOp : NN_ComputeOp<"mean_squared_error"> {
  let summary = "mean of (y - target)² over all elements, and its gradient";
  let description = [{
    The second result is the gradient of the loss with respect to y (NN31).

    ```mlir
    %l, %d = nn.mean_squared_error %y, %t
             : (tensor<4x1xf32>, tensor<4x1xf32>) -> (tensor<f32>, tensor<4x1xf32>)
    ```
  }];
  let arguments = (ins NN_FloatTensor:$value, NN_FloatTensor:$target);
  let results = (outs NN_Scalar:$loss, NN_FloatTensor:$gradient);
  let assemblyFormat = "$value `,` $target attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
