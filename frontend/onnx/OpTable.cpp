// The table of supported operators.
#include "frontend/onnx/OpTable.h"

#include "frontend/onnx/BindCopies.h"
#include "frontend/onnx/FoldConstants.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

static constexpr unsigned all = ~0u;

const OpImport *frontend::findOp(llvm::StringRef name) {
  static const llvm::StringMap<OpImport> table = {
      {"Abs", {importUnary, 1, 1}},
      {"Add", {importBinary, 2, 2, false}},
      {"Attention", {importAttention, 3, 3}},
      {"AveragePool", {importAveragePool, 1, 1}},
      {"BatchNormalization", {importBatchNormalization, 5, 3}},
      {"Cast", {importCast, 1, 1, false}},
      {"CastLike", {importCastLike, 2, 0}},
      {"Clip", {importClip, 1, 1}},
      {"Concat", {importConcat, 1, all, false}},
      {"Constant", {importConstant, 0, 0}},
      {"ConstantOfShape", {importConstantOfShape, 1, 0}},
      {"Conv", {importConv, 2, 3}},
      {"CumSum", {importCumSum, 2, 1}},
      {"Div", {importBinary, 2, 2, false}},
      {"Dropout", {importDropout, 1, 1}},
      {"Einsum", {importEinsum, 2, all}},
      {"Elu", {importUnary, 1, 1}},
      {"Erf", {importUnary, 1, 1}},
      {"Exp", {importUnary, 1, 1}},
      {"Expand", {importExpand, 2, 1, false}},
      {"Flatten", {importView, 1, 1, false}},
      {"Gather", {importGather, 2, 1, false}},
      {"GatherElements", {importGatherElements, 2, 0}},
      {"GatherND", {importGatherNd, 2, 1, false}},
      {"Gelu", {importGelu, 1, 1}},
      {"Gemm", {importGemm, 2, 3}},
      {"GlobalAveragePool", {importGlobalPool, 1, 1}},
      {"GlobalMaxPool", {importGlobalPool, 1, 1}},
      {"GroupNormalization", {importGroupNormalization, 3, 3}},
      {"HardSigmoid", {importUnary, 1, 1}},
      {"HardSwish", {importUnary, 1, 1}},
      {"Identity", {importIdentity, 1, 0}},
      {"InstanceNormalization", {importInstanceNormalization, 3, 3}},
      {"LRN", {importLrn, 1, 1}},
      {"LayerNormalization", {importLayerNormalization, 2, 3}},
      {"LeakyRelu", {importUnary, 1, 1}},
      {"Log", {importUnary, 1, 1}},
      {"LogSoftmax", {importSoftmax, 1, 1}},
      {"MatMul", {importMatMul, 2, 2}},
      {"MaxPool", {importMaxPool, 1, 1}},
      {"Mul", {importBinary, 2, 2, false}},
      {"Neg", {importUnary, 1, 1}},
      {"PRelu", {importBinary, 2, 2}},
      {"Pad", {importPad, 1, 1, false}},
      {"Pow", {importPow, 2, 1}},
      {"RMSNormalization", {importRmsNormalization, 2, 2}},
      {"RandomNormal", {importRandom, 0, 0}},
      {"RandomUniform", {importRandom, 0, 0}},
      {"Reciprocal", {importUnary, 1, 1}},
      {"ReduceMean", {importReduce, 1, 1}},
      {"ReduceSum", {importReduce, 1, 1}},
      {"Relu", {importUnary, 1, 1}},
      {"Reshape", {importView, 2, 1, false}},
      {"RotaryEmbedding", {importRotaryEmbedding, 3, 1}},
      {"SequenceAt", {importSequenceAt, 2, 0}},
      {"Shape", {importShape, 1, 1, false}},
      {"Sigmoid", {importUnary, 1, 1}},
      {"Size", {importShape, 1, 1, false}},
      {"Slice", {importSlice, 1, 1, false}},
      {"Softmax", {importSoftmax, 1, 1}},
      {"Split", {importSplit, 1, 1, false}},
      {"SplitToSequence", {importSplitToSequence, 2, 0}},
      {"Sqrt", {importUnary, 1, 1}},
      {"Squeeze", {importView, 1, 1, false}},
      {"Sub", {importBinary, 2, 2, false}},
      {"Sum", {importSum, 1, all}},
      {"Tanh", {importUnary, 1, 1}},
      {"Tile", {importTile, 2, 1, false}},
      {"Transpose", {importTranspose, 1, 1, false}},
      {"Unsqueeze", {importView, 1, 1, false}},
      {"Where", {importWhere, 3, 0}},
  };
  auto place = table.find(name);
  return place == table.end() ? nullptr : &place->second;
}

/// Checks that the operands which the table calls tensors are floating-point and of one type.
static LogicalResult checkTensors(NodeImport &node, const OpImport &import) {
  Value first;
  for (unsigned i = 0; i < node.inputCount() && i < import.tensors; ++i) {
    if (!node.hasInput(i))
      continue;
    Value value = node.tensor(i);
    if (!value)
      return node.error("operand '" + node.inputName(i) + "' cannot be computed with");
    const bool isReal = isa<FloatType>(elementOf(value)) && !isWholeOperand(node, i);
    if (import.floatOnly && !isReal)
      return node.error("expected floating-point elements in '" + node.inputName(i) + "'");
    first = first ? first : value;
    if (elementOf(first) == elementOf(value))
      continue;
    return node.error("operands '" + node.inputName(0) + "' and '" + node.inputName(i) +
                      "' have different element types");
  }
  return success();
}

/// Whether operators of the node's domain are looked up: ONNX's own and one that was foreign.
static bool hasKnownDomain(const NodeImport &node) {
  return isDefaultDomain(node.proto.domain()) ||
         (node.proto.domain() == "com.microsoft" && node.op() == "RotaryEmbedding");
}

bool frontend::isKnownOp(const NodeImport &node) {
  return hasKnownDomain(node) &&
         (findOp(node.op()) || findShapeFold(node.op()) || findElementwiseFold(node.op()));
}

std::string frontend::optimizerHint(const NodeImport &node) {
  return node.proto.domain().starts_with("com.microsoft")
             ? "; ONNX Runtime's optimizer writes such operators: expected the model as it was "
               "before"
             : "";
}

std::string frontend::unsupportedOp(const NodeImport &node) {
  if (!isDefaultDomain(node.proto.domain()))
    return "operators of domain '" + node.proto.domain() + "' are not supported";
  if (isKnownOp(node) && !findOp(node.op()))
    return "this operator is supported for values that are known at import only";
  return "this operator of opset " + std::to_string(node.opset()) + " is not supported";
}

/// The importer of a node on integers or truth values that are computed in a step; null for others.
static ImportFunction findIntegerImport(NodeImport &node) {
  if (ImportFunction import = findTruthOp(node.op()))
    return import;
  if (node.op() == "Where" && !node.constant(0))
    return importChoice;
  return isWholeOperand(node, 0) || isWholeOperand(node, 1) ? findWholeOp(node.op()) : nullptr;
}

LogicalResult frontend::importNode(NodeImport &node) {
  if (!hasKnownDomain(node))
    return node.error(unsupportedOp(node));
  FailureOr<bool> folded = foldNode(node);
  if (failed(folded) || node.failed())
    return failure();
  if (*folded)
    return success();
  const OpImport *import = findOp(node.op());
  for (unsigned i = 0; import && i < import->required; ++i)
    if (!node.hasInput(i))
      return node.error("expected operand " + llvm::Twine(i + 1) + ", which is missing");
  if (ImportFunction wholeImport = node.state.isStep ? findIntegerImport(node) : nullptr)
    return wholeImport(node);
  if (!import)
    return node.error(unsupportedOp(node));
  const bool movesWhole =
      !import->floatOnly && import->import != importCast && isWholeOperand(node, 0);
  bindCopies(node);
  if (failed(checkTensors(node, *import)) || failed(import->import(node)))
    return failure();
  const bool isMoved = movesWhole && node.op() != "Concat" && node.op() != "Pad"; // to other places
  const auto bounds = isMoved ? node.state.values.boundsOf(node.inputName(0)) : std::nullopt;
  for (unsigned i = 0; movesWhole && i < node.outputCount(); ++i)
    if (node.isUsed(i))
      node.state.values.setWhole(node.proto.output(static_cast<int>(i)),
                                 node.state.values.wholeType(node.inputName(0)), bounds);
  return failure(node.failed());
}
