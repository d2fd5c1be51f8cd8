// The nn dialect: one training step on static tensors.
#ifndef SYNCLINE_NN_DIALECT_TD
#define SYNCLINE_NN_DIALECT_TD

include "ir/KnownAttributes.td"
include "ir/nn/NNInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::syncline::nn";
  let summary = "one training step: parameters, forward, loss, backward, update";
  let description = [{
    Values are tensors with static shapes, of any element type and rank. Images are
    [N, C, spatial dimensions ...]. SPEC.md numbers the rules, and the verifiers cite them.

    Any operation of the dialect may have these discardable attributes:
    - `nn.layer`: the model's node that the operation comes from, as `"layer1.0.conv1"`;
    - `nn.backward`: the operation belongs to the backward pass;
    - `nn.recomputed`: it belongs there, and computes what an operation of the forward pass of the
      same layer has computed before (NN54);
    - `nn.seconds`: the predicted time on one rank.

    A module may have `nn.optimizer` (NN51) and `nn.precision` (NN53); a step, and the program that
    it becomes, `nn.recomputation` (NN54).
  }];
  let discardableAttrs = (ins "::mlir::StringAttr":$layer, "::mlir::UnitAttr":$backward,
                              "::mlir::UnitAttr":$recomputed, "::mlir::FloatAttr":$seconds,
                              "::mlir::StringAttr":$optimizer, "::mlir::StringAttr":$precision,
                              "::mlir::DictionaryAttr":$recomputation);
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class NN_Op<string mnemonic, list<Trait> traits = []>
    : Op<NN_Dialect, mnemonic, !listconcat([KnownAttributes], traits)>;

// An operation that computes has no effect but its results.
class NN_ComputeOp<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat([Pure], traits)>;

def NN_Tensor : TensorOf<[AnyFloat, AnyInteger]>;
def NN_FloatTensor : TensorOf<[AnyFloat]>;
def NN_Scalar : 0DTensorOf<[AnyFloat]>;

class NN_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::syncline::nn";
  let genSpecializedAttr = 0;
}

def NN_ActivationEnum : NN_I32Enum<"Activation", "applied to a result as it is written", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"relu", 1>]>;
def NN_Activation : EnumAttr<NN_Dialect, NN_ActivationEnum, "activation">;

def NN_UnaryKindEnum : NN_I32Enum<"UnaryKind", "elementwise function of one operand", [
  I32EnumAttrCase<"relu", 0>, I32EnumAttrCase<"leaky_relu", 1>, I32EnumAttrCase<"sigmoid", 2>,
  I32EnumAttrCase<"tanh", 3>, I32EnumAttrCase<"hard_sigmoid", 4>, I32EnumAttrCase<"hard_swish", 5>,
  I32EnumAttrCase<"clip", 6>, I32EnumAttrCase<"elu", 7>, I32EnumAttrCase<"neg", 8>,
  I32EnumAttrCase<"exp", 9>, I32EnumAttrCase<"log", 10>, I32EnumAttrCase<"sqrt", 11>,
  I32EnumAttrCase<"abs", 12>, I32EnumAttrCase<"reciprocal", 13>, I32EnumAttrCase<"erf", 14>,
  I32EnumAttrCase<"pow", 15>, I32EnumAttrCase<"softplus", 16>, I32EnumAttrCase<"softsign", 17>,
  I32EnumAttrCase<"mish", 18>, I32EnumAttrCase<"swish", 19>,
  I32EnumAttrCase<"thresholded_relu", 20>, I32EnumAttrCase<"celu", 21>, I32EnumAttrCase<"sin", 22>,
  I32EnumAttrCase<"cos", 23>, I32EnumAttrCase<"tan", 24>, I32EnumAttrCase<"atan", 25>,
  I32EnumAttrCase<"floor", 26>, I32EnumAttrCase<"ceil", 27>, I32EnumAttrCase<"round", 28>,
  I32EnumAttrCase<"sign", 29>, I32EnumAttrCase<"acos", 30>, I32EnumAttrCase<"asin", 31>,
  I32EnumAttrCase<"sinh", 32>, I32EnumAttrCase<"cosh", 33>, I32EnumAttrCase<"asinh", 34>,
  I32EnumAttrCase<"acosh", 35>, I32EnumAttrCase<"atanh", 36>]>;
def NN_UnaryKind : EnumAttr<NN_Dialect, NN_UnaryKindEnum, "unary">;

def NN_BinaryKindEnum : NN_I32Enum<"BinaryKind", "elementwise function of two operands", [
  I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"sub", 1>, I32EnumAttrCase<"mul", 2>,
  I32EnumAttrCase<"div", 3>, I32EnumAttrCase<"prelu", 4>, I32EnumAttrCase<"mask", 5>,
  I32EnumAttrCase<"max", 6>, I32EnumAttrCase<"min", 7>, I32EnumAttrCase<"tie_share", 8>,
  I32EnumAttrCase<"not_less", 9>]>;
def NN_BinaryKind : EnumAttr<NN_Dialect, NN_BinaryKindEnum, "binary">;

def NN_ReductionEnum : NN_I32Enum<"Reduction", "how elements are reduced", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"maximum", 2>]>;
def NN_Reduction : EnumAttr<NN_Dialect, NN_ReductionEnum, "reduction">;

def NN_LossEnum : NN_I32Enum<"LossKind", "the loss on the model's output", [
  I32EnumAttrCase<"cross_entropy", 0, "cross-entropy">, I32EnumAttrCase<"mse", 1>]>;

def NN_InitKindEnum : NN_I32Enum<"InitKind", "how a tensor without values starts", [
  I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"normal", 1>, I32EnumAttrCase<"uniform", 2>]>;

def NN_InitAttr : AttrDef<NN_Dialect, "Init"> {
  let mnemonic = "init";
  let summary = "how a tensor without values starts: constant a; normal with mean a, deviation b; "
                "uniform in [a, b)";
  let parameters = (ins EnumParameter<NN_InitKindEnum>:$kind, "::mlir::FloatAttr":$a,
                        "::mlir::FloatAttr":$b);
  let assemblyFormat = "`<` $kind `,` $a `,` $b `>`";
}

#endif
