// Counts operations and bytes of nodes, one function a family.
#include "frontend/onnx/LayerWork.h"

#include "frontend/onnx/OpTable.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

double NodeTensor::elements() const {
  double product = 1;
  for (std::int64_t size : type.getShape())
    product *= static_cast<double>(size);
  return product;
}

double NodeTensor::bytes() const {
  return elements() * std::max(1u, type.getElementTypeBitWidth() / 8);
}

bool frontend::isView(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze", true)
      .Default(false);
}

bool frontend::isElementwise(llvm::StringRef op) {
  const bool isOther = llvm::StringSwitch<bool>(op)
                           .Cases("Add", "And", "Cast", "Div", "Equal", "Gelu", true)
                           .Cases("Greater", "GreaterOrEqual", "Less", "LessOrEqual", true)
                           .Cases("Max", "Min", "Mul", "Not", "Or", "PRelu", "Selu", true)
                           .Cases("Sub", "Sum", "Where", true)
                           .Default(false);
  return isOther || findUnary(op);
}

unsigned frontend::dataOperands(llvm::StringRef op) {
  return llvm::StringSwitch<unsigned>(op)
      .Cases("BatchNormalization", "InstanceNormalization", "GroupNormalization", 3)
      .Cases("Clip", "CumSum", "Dropout", "Expand", "Pad", "Reshape", "Resize", "Slice", "Split", 1)
      .Cases("ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", 1)
      .Cases("Squeeze", "Tile", "TopK", "Trilu", "Unsqueeze", "Upsample", 1)
      .Cases("DequantizeLinear", "Pow", "QuantizeLinear", "SequenceAt", 1)
      .Cases("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", 1)
      .Cases("ConstantOfShape", "Range", "Shape", "Size", 0)
      .Cases("RandomNormalLike", "RandomUniformLike", 0)
      .Default(~0u);
}

namespace {

constexpr double updatesOfNormalization = 12; ///< backward, per element; as passes/cost

class Counter {
public:
  Counter(NodeImport &node, const NodeTensors &tensors)
      : node(node), in(tensors.operands), out(tensors.results), isAlone(tensors.isAlone) {}

  NodeWork count() {
    const std::string &op = node.op();
    if (isView(op) || !main().type)
      return {};
    if (op == "Conv" || op == "ConvTranspose")
      convolution(op == "ConvTranspose");
    else if (op == "MatMul" || op == "Gemm")
      product(op == "Gemm" && node.integer("transA", 0) != 0);
    else if (op == "LSTM" || op == "GRU" || op == "RNN")
      recurrent(op == "LSTM" ? 4 : op == "GRU" ? 3 : 1);
    else if (op == "Einsum")
      einsum();
    else if (op == "Gather" && isTrained(0))
      rows();
    else if (op == "Slice" || op == "Split" || op == "SequenceAt" || op == "Gather")
      part();
    else if (isElementwise(op))
      elementwise(op == "Add" || op == "Sub" || op == "Sum" || op == "Neg" || op == "Cast");
    else
      pass(op);
    return std::move(work);
  }

private:
  bool has(unsigned i) const { return i < in.size() && in[i].type; }
  bool isTrained(unsigned i) const { return has(i) && in[i].isTrained; }
  bool wantsGradient(unsigned i) const { return has(i) && in[i].needsGradient; }
  /// The first result that is used: of Split, TopK and recurrent layers it may be a later one.
  NodeTensor main() const {
    const auto used =
        llvm::find_if(out, [](const NodeTensor &result) { return bool(result.type); });
    return used == out.end() ? NodeTensor() : *used;
  }
  double results() const {
    double total = 0;
    for (const NodeTensor &result : out)
      total += result.type ? result.bytes() : 0;
    return total;
  }
  double operands() const {
    double total = 0;
    for (const NodeTensor &operand : in)
      total += operand.type ? operand.bytes() : 0;
    return total;
  }
  void backward(unsigned i, Work add) {
    if (wantsGradient(i))
      (in[i].isTrained ? work.weights : work.data).push_back(add);
  }

  /// Counts one product like `forward` and one for each gradient of operands 0 and 1.
  void products(Work forward, double biasElements) {
    const double flops = forward.flops;
    forward.flops += biasElements;
    forward.bytes = operands() + results();
    work.forward.push_back(forward);
    for (unsigned i = 0; i < 2; ++i) {
      Work gradient = forward;
      gradient.flops = flops + (i == 1 ? biasElements : 0);
      gradient.bytes =
          in[1 - i].bytes() + results() + in[i].bytes() + (i == 1 && has(2) ? in[2].bytes() : 0);
      std::swap(i == 0 ? gradient.columns : gradient.rows, gradient.summands);
      backward(i, gradient);
    }
  }

  void convolution(bool isTransposed) {
    if (!has(0) || !has(1))
      return;
    // Each element of y (transposed: of x) meets all weights of one output (input) channel.
    const auto channels = static_cast<double>(in[1].type.getDimSize(0));
    const double each = in[1].elements() / channels;
    const double met = (isTransposed ? in[0] : out[0]).elements();
    const auto groups = static_cast<double>(node.integer("group", 1));
    products({.flops = 2 * each * met,
              .kind = Work::Kind::convolution,
              .rows = met / channels,
              .columns = channels / groups,
              .summands = each,
              .count = groups},
             has(2) ? out[0].elements() : 0);
  }

  void product(bool isTransposed) {
    if (!has(0) || !has(1))
      return;
    const auto shape = in[0].type.getShape();
    const std::int64_t inner =
        shape.empty()
            ? 1
            : shape[isTransposed && shape.size() > 1 ? shape.size() - 2 : shape.size() - 1];
    const auto y = out[0].type.getShape();
    const double columns = y.empty() ? 1 : static_cast<double>(y.back());
    const bool isBatched = shape.size() > 2 && in[1].type.getRank() > 2 && y.size() > 2;
    const double rows =
        isBatched ? static_cast<double>(y[y.size() - 2]) : out[0].elements() / columns;
    products({.flops = 2 * out[0].elements() * static_cast<double>(inner),
              .kind = Work::Kind::product,
              .rows = rows,
              .columns = columns,
              .summands = static_cast<double>(inner),
              .count = out[0].elements() / (rows * columns)},
             has(2) ? out[0].elements() : 0);
    const auto samples = static_cast<std::int64_t>(in[0].elements()) / inner;
    if (isTrained(1) && in[1].type.getRank() == 2 && samples > 0)
      work.factors =
          FactorDims{inner, static_cast<std::int64_t>(in[1].elements()) / inner, samples};
  }

  /// x [S, B, I], w [D, gates·H, I], r [D, gates·H, H]: two products a step of the sequence. The
  /// states of all steps, y [S, D, B, H], are made whether something reads them or not.
  void recurrent(double gates) {
    if (!has(0) || !has(1) || !has(2) || in[0].type.getRank() != 3 || in[2].type.getRank() != 3)
      return;
    const double positions = in[0].elements() / static_cast<double>(in[0].type.getDimSize(2));
    const double states = positions * static_cast<double>(in[2].type.getDimSize(0)) *
                          static_cast<double>(in[2].type.getDimSize(2));
    const double size = main().bytes() / main().elements();
    const bool isRead = out[0].type && out[0].elements() == states;
    const double made = results() + (isRead ? 0 : states * size);
    const double flops =
        2 * positions * (in[1].elements() + in[2].elements()) + 8 * gates * made / size;
    Work each{.flops = flops,
              .bytes = operands() + made,
              .kind = Work::Kind::recurrent,
              .rows = static_cast<double>(in[0].type.getDimSize(1)),
              .columns = static_cast<double>(in[2].type.getDimSize(1)),
              .summands = static_cast<double>(in[2].type.getDimSize(2)),
              .count = static_cast<double>(in[0].type.getDimSize(0))};
    work.forward.push_back(each);
    if (isTrained(1) || isTrained(2))
      work.weights.push_back(each);
    each.bytes += made;
    backward(0, each);
  }

  /// Counts one loop nest over all indices of the equation. An ellipsis stands for the dimensions
  /// that have no letter.
  void einsum() {
    llvm::StringMap<double> sizes;
    llvm::SmallVector<llvm::StringRef> terms;
    const std::string equation = node.text("equation", "");
    std::string letters;
    for (char c : equation)
      if (c != ' ')
        letters += c;
    llvm::StringRef(letters).split("->").first.split(terms, ',');
    double shared = 1;
    for (unsigned i = 0; i < terms.size() && has(i); ++i) {
      llvm::StringRef term = terms[i];
      llvm::SmallVector<double> open(in[i].type.getShape().begin(), in[i].type.getShape().end());
      const auto [head, tail] = term.split("...");
      for (std::size_t k = 0; k < head.size() && k < open.size(); ++k)
        sizes[head.substr(k, 1)] = open[k];
      for (std::size_t k = 0; k < tail.size() && k < open.size(); ++k)
        sizes[tail.substr(tail.size() - 1 - k, 1)] = open[open.size() - 1 - k];
      double rest = 1;
      for (std::size_t k = head.size(); k + tail.size() < open.size(); ++k)
        rest *= open[k];
      shared = std::max(shared, rest);
    }
    double flops = 2 * shared;
    for (const auto &size : sizes)
      flops *= size.getValue();
    work.forward.push_back({flops, operands() + results()});
    for (unsigned i = 0; i < in.size(); ++i)
      backward(i, {flops, operands() + results()});
  }

  /// A lookup of rows of a trained table: its dense gradient is zeros plus the rows.
  void rows() {
    const double moved = 2 * out[0].bytes();
    const double places = has(1) ? in[1].bytes() : 0;
    work.forward.push_back({.bytes = moved + places, .kind = Work::Kind::rows});
    backward(0, {.flops = out[0].elements(),
                 .bytes = in[0].bytes() + moved + out[0].bytes(),
                 .kind = Work::Kind::rows});
  }

  /// An operator that copies a part of operand 0; the gradient of the rest is zero.
  void part() {
    work.forward.push_back({0, 2 * results()});
    if (has(0))
      backward(0, {0, in[0].bytes() + results()});
  }

  /// An elementwise operator runs in the pass that makes operand 0, if possible. It then reads only
  /// its other operands, and backward only what its derivative needs. The gradient of a sum's
  /// operand is the gradient of the sum.
  void elementwise(bool isLinear) {
    const bool isData = has(0) && !in[0].isTrained;
    const bool fused = isAlone && isData && in[0].elements() == out[0].elements();
    const double read = operands() - (fused ? in[0].bytes() : 0);
    const double flops = out[0].elements();
    if (!fused || read > 0)
      work.forward.push_back({flops, read + (fused ? 0 : results())});
    for (unsigned i = 0; i < in.size(); ++i) {
      if (!wantsGradient(i))
        continue;
      const bool isReduced = in[i].elements() < out[0].elements();
      if (isLinear && !isReduced)
        continue; // the result's gradient is the operand's
      const double saved =
          isLinear ? 0 : (in.size() > 1 ? operands() - in[i].bytes() : out[0].bytes());
      const bool inPass = fused && !isReduced;
      backward(i, {flops, saved + (inPass ? 0 : results() + in[i].bytes())});
    }
  }

  /// Any other operator reads every operand and writes every result once. Backward it reads the
  /// results' gradients and what its derivative needs, and writes the operands' gradients.
  void pass(llvm::StringRef op) {
    const bool isNormalization = op.ends_with("Normalization");
    const bool isCopy = llvm::StringSwitch<bool>(op)
                            .Cases("Concat", "Transpose", "Expand", "Pad", "Tile", true)
                            .StartsWith("Reduce", true)
                            .Default(false);
    const double elements = std::max(has(0) ? in[0].elements() : 0, main().elements());
    work.forward.push_back(
        {isCopy ? 0 : (isNormalization ? 8 : 4) * elements, operands() + results()});
    double gradients = 0;
    bool isWanted = false, trains = false;
    for (unsigned i = 0; i < in.size(); ++i)
      if (wantsGradient(i)) {
        gradients += in[i].bytes();
        isWanted = true;
        trains |= in[i].isTrained;
      }
    if (!isWanted)
      return;
    const double saved = isCopy ? 0 : (isNormalization && has(0) ? in[0].bytes() : results());
    (trains ? work.weights : work.data)
        .push_back({isCopy ? 0 : (isNormalization ? updatesOfNormalization : 4) * elements,
                    saved + results() + gradients});
  }

  NodeImport &node;
  const llvm::SmallVector<NodeTensor> &in, &out;
  bool isAlone;
  NodeWork work;
};

} // namespace

NodeWork frontend::workOf(NodeImport &node, const NodeTensors &tensors) {
  return Counter(node, tensors).count();
}
