// The table of supported operators.
#include "frontend/onnx/OpTable.h"

#include "frontend/onnx/BindCopies.h"
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/FoldConstants.h"

#include "llvm/ADT/SetVector.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

const OpImport *frontend::findOp(llvm::StringRef name) {
  static const auto table = [] {
    llvm::StringMap<OpImport> rows;
    for (const OpRows family :
         {attentionOps(),     blockOps(),     columnOps(),  constantOps(),  controlOps(),
          convTransposeOps(), einsumOps(),    extremeOps(), fourierOps(),   gatherScatterOps(),
          groupNormOps(),     linearOps(),    lossOps(),    noiseOps(),     normalizationOps(),
          padOps(),           pointwiseOps(), poolOps(),    recurrentOps(), reductionOps(),
          repeatOps(),        resizeOps(),    rowOps(),     scanOps(),      sequenceOps(),
          shapeOps(),         topOps(),       wholeOps()})
      for (const OpRow &row : family)
        rows.try_emplace(row.name, row.import);
    return rows;
  }();
  if (auto place = table.find(name); place != table.end())
    return &place->second;
  static constexpr OpImport unary{importUnary, 1, 1};
  return findUnary(name) ? &unary : nullptr;
}

/// Checks that the operands which the table calls tensors are floating-point and of one type.
static LogicalResult checkTensors(NodeImport &node, const OpImport &import) {
  Value first;
  for (unsigned i = 0; i < node.inputCount() && i < import.tensors; ++i) {
    if (!node.hasInput(i) || (node.op() == "Concat" && isEmpty(node, i)))
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
  if (ImportFunction import = findWholeReduction(node.op())) // operand 1 is its axes
    return isWholeOperand(node, 0) ? import : nullptr;
  return isWholeOperand(node, 0) || isWholeOperand(node, 1) ? findWholeOp(node.op()) : nullptr;
}

/// Makes integers of one element type, so that they can be joined: all f32 where some are computed,
/// and so held, or of types that differ. Known ones become what the others are. A Cast between
/// int32 and int64 makes no tensor, so that operands of one type in the file may differ here.
static void bindIntegers(NodeImport &node) {
  GraphValues &values = node.state.values;
  llvm::SmallSetVector<Type, 2> computed, all;
  for (unsigned i = 0; i < node.inputCount(); ++i) {
    if (!node.hasInput(i) || isEmpty(node, i))
      continue;
    const RankedTensorType type =
        isWholeOperand(node, i) ? values.typeOf(node.inputName(i)) : RankedTensorType();
    if (!type)
      return;
    all.insert(type.getElementType());
    if (!values.isKnown(node.inputName(i)) && !values.repeated(node.inputName(i)))
      computed.insert(type.getElementType());
  }
  const Type common = computed.size() == 1 ? computed.front() : Type();
  for (unsigned i = 0; all.size() > 1 && i < node.inputCount(); ++i) {
    const std::string &name = node.inputName(i);
    if (!node.hasInput(i) || isEmpty(node, i))
      continue;
    const bool isKept = common && !common.isF32();
    if (isKept && values.typeOf(name).getElementType() == common)
      continue;
    if (Value value = isKept ? values.knownAs(name, elementNumber(common)) : values.real(name))
      node.bind(i, value);
  }
}

LogicalResult frontend::importNode(NodeImport &node) {
  if (!hasKnownDomain(node))
    return node.error(unsupportedOp(node));
  FailureOr<bool> folded = foldNode(node);
  if (failed(folded) || node.failed())
    return failure();
  if (!*folded)
    folded = foldEmpty(node);
  if (failed(folded))
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
  if (node.state.options.onCuda && !import->onCuda)
    return node.error("this operator does not run on GPUs: '--backend cpu' trains it on "
                      "processors, '--plan-only' plans for GPUs by its shapes");
  const bool movesWhole = !import->floatOnly && node.op() != "Cast" && isWholeOperand(node, 0);
  if (node.state.isStep && node.op() == "Concat")
    bindIntegers(node);
  bindCopies(node);
  if (failed(checkTensors(node, *import)) || failed(import->import(node)))
    return failure();
  const bool isMoved = movesWhole && node.op() != "Concat" && node.op() != "Pad" &&
                       !llvm::StringRef(node.op()).starts_with("Scatter"); // to other places
  const auto bounds = isMoved ? node.state.values.boundsOf(node.inputName(0)) : std::nullopt;
  for (unsigned i = 0; movesWhole && i < node.outputCount(); ++i)
    if (node.isUsed(i))
      node.state.values.setWhole(node.proto.output(static_cast<int>(i)),
                                 node.state.values.wholeType(node.inputName(0)), bounds);
  return failure(node.failed());
}
