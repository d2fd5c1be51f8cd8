// The plan dialect: when and where each part of a step runs.
#ifndef SYNCLINE_PLAN_DIALECT_TD
#define SYNCLINE_PLAN_DIALECT_TD

include "ir/KnownAttributes.td"

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let dependentDialects = ["::syncline::cluster::ClusterDialect",  // for schemes
                           "::syncline::sync::SyncDialect"];       // for the consistency
  let cppNamespace = "::syncline::plan";
  let summary = "streams, channels, buffers with offsets and lifetimes, transport calls, "
                "in issue order";
  let description = [{
    One operation is one line of generated code. Tensors are memrefs that name a place: a space, an
    offset, a number of reserved bytes. Operations run in order on the compute stream. `plan.issue`
    hands a bucket to its channel, and `plan.wait` blocks the compute stream until the bucket has
    arrived. SPEC.md numbers the rules.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class Plan_Op<string mnemonic, list<Trait> traits = []>
    : Op<Plan_Dialect, mnemonic, !listconcat([KnownAttributes], traits)>;

class Plan_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::syncline::plan";
  let genSpecializedAttr = 0;
}

def Plan_SpaceEnum : Plan_I32Enum<"Space", "where a tensor lies", [
  I32EnumAttrCase<"input", 0>, I32EnumAttrCase<"target", 1>, I32EnumAttrCase<"parameters", 2>,
  I32EnumAttrCase<"gradients", 3>, I32EnumAttrCase<"state", 4>, I32EnumAttrCase<"arena", 5>]>;
def Plan_Space : EnumAttr<Plan_Dialect, Plan_SpaceEnum, "space">;

def Plan_PhaseEnum : Plan_I32Enum<"Phase", "part of a step", [
  I32EnumAttrCase<"forward", 0>, I32EnumAttrCase<"backward", 1>, I32EnumAttrCase<"update", 2>]>;
def Plan_Phase : EnumAttr<Plan_Dialect, Plan_PhaseEnum, "phase">;

// The runtime's kernels. The names are those of the calls of its step builder.
def Plan_KernelEnum : Plan_I32Enum<"Kernel", "what a call computes", [
  I32EnumAttrCase<"conv", 0>, I32EnumAttrCase<"convBackwardData", 1>,
  I32EnumAttrCase<"convBackwardWeights", 2>, I32EnumAttrCase<"matmul", 3>,
  I32EnumAttrCase<"batchNorm", 4>, I32EnumAttrCase<"batchNormBackward", 5>,
  I32EnumAttrCase<"maxPool", 6>, I32EnumAttrCase<"maxPoolBackward", 7>,
  I32EnumAttrCase<"averagePool", 8>, I32EnumAttrCase<"averagePoolBackward", 9>,
  I32EnumAttrCase<"lrn", 10>, I32EnumAttrCase<"lrnBackward", 11>,
  I32EnumAttrCase<"softmax", 12>, I32EnumAttrCase<"softmaxBackward", 13>,
  I32EnumAttrCase<"crossEntropy", 14>, I32EnumAttrCase<"meanSquaredError", 15>,
  I32EnumAttrCase<"concat", 16>, I32EnumAttrCase<"slice", 17>,
  I32EnumAttrCase<"sliceBackward", 18>, I32EnumAttrCase<"pad", 19>,
  I32EnumAttrCase<"transpose", 20>, I32EnumAttrCase<"reshape", 21>,
  I32EnumAttrCase<"reduce", 22>, I32EnumAttrCase<"dropout", 23>,
  I32EnumAttrCase<"dropoutBackward", 24>, I32EnumAttrCase<"layerNorm", 25>,
  I32EnumAttrCase<"layerNormBackward", 26>, I32EnumAttrCase<"embedding", 27>,
  I32EnumAttrCase<"embeddingBackward", 28>, I32EnumAttrCase<"resample", 29>,
  I32EnumAttrCase<"resampleBackward", 30>, I32EnumAttrCase<"gatherRows", 31>,
  I32EnumAttrCase<"scatterRows", 32>, I32EnumAttrCase<"topK", 33>,
  I32EnumAttrCase<"noise", 34>, I32EnumAttrCase<"recurrent", 35>,
  I32EnumAttrCase<"recurrentBackward", 36>]>;
def Plan_Kernel : EnumAttr<Plan_Dialect, Plan_KernelEnum, "kernel">;

// A #cluster<scheme ...>; its dialect's TableGen source is not needed for it.
def Plan_Scheme : Attr<CPred<"::llvm::isa<::syncline::cluster::SchemeAttr>($_self)">, "a scheme"> {
  let storageType = "::syncline::cluster::SchemeAttr";
  let returnType = "::syncline::Scheme";
  let convertFromStorage = "$_self.getValue()";
}

// A #sync.consistency; its dialect's TableGen source is not needed for it.
def Plan_Consistency
    : Attr<CPred<"::llvm::isa<::syncline::sync::ConsistencyAttr>($_self)">, "a consistency"> {
  let storageType = "::syncline::sync::ConsistencyAttr";
  let returnType = "::syncline::sync::ConsistencyAttr";
  let convertFromStorage = "$_self";
}

#endif
