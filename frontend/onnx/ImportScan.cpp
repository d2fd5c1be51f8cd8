// Scan: its body is imported once for each entry of the tensors that it goes through.
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Replacement.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using Names = Inliner::Names;

namespace {

/// A tensor that the body takes, or makes, one entry at a time.
struct Scanned {
  std::int64_t axis;
  bool isReverse;
};

class Scan {
public:
  explicit Scan(NodeImport &node) : node(node), copies(node) {}

  LogicalResult import() {
    if (failed(readBody()) || failed(readInputs()))
      return failure();
    for (std::int64_t i = 0; i < count; ++i)
      if (failed(addIteration(i)))
        return failure();
    for (int k = 0; k < body->output_size(); ++k) {
      if (!node.isUsed(static_cast<unsigned>(k)))
        continue;
      const std::string &result = node.proto.output(k);
      if (failed(k < states ? copies.alias(carried[k], result) : stack(k - states, result)))
        return failure();
    }
    return copies.finish();
  }

private:
  LogicalResult readBody() {
    const onnx::AttributeProto *attribute = node.attribute("body");
    body = attribute && attribute->has_g() ? &attribute->g() : nullptr;
    if (!body || node.opset() < 9)
      return node.error(body ? "expected operator set 9 or newer" : "expected a body");
    const std::int64_t scans = node.integer("num_scan_inputs", 0);
    const std::int64_t inputs = node.proto.input_size();
    states = static_cast<int>(inputs - scans);
    if (scans < 1 || scans > inputs || body->input_size() != inputs ||
        body->output_size() < states || node.proto.output_size() > body->output_size())
      return node.error("expected a body with an input for each of the node's, of which "
                        "num_scan_inputs are scanned, and a result for each state and each of the "
                        "node's results");
    for (unsigned i = 0; i < node.inputCount(); ++i)
      if (!node.hasInput(i))
        return node.error("operand " + llvm::Twine(i + 1) + " is missing");
    return success();
  }

  /// The axes and directions that two attributes name for `size` tensors.
  LogicalResult readScanned(std::vector<Scanned> &list, llvm::StringRef axes,
                            llvm::StringRef directions, int size) {
    const nn::Dims zeros(size, 0);
    const nn::Dims places = node.integers(axes).value_or(zeros);
    const nn::Dims reversed = node.integers(directions).value_or(zeros);
    if (places.size() != zeros.size() || reversed.size() != zeros.size())
      return node.error("expected " + llvm::Twine(size) + " entries in " + axes + " and " +
                        directions);
    for (int i = 0; i < size; ++i)
      list.push_back({places[i], reversed[i] != 0});
    return success();
  }

  LogicalResult readInputs() {
    const int scans = node.proto.input_size() - states;
    if (failed(readScanned(inputs, "scan_input_axes", "scan_input_directions", scans)) ||
        failed(readScanned(outputs, "scan_output_axes", "scan_output_directions",
                           body->output_size() - states)))
      return failure();
    for (int k = 0; k < scans; ++k) {
      const std::string &name = node.proto.input(states + k);
      const RankedTensorType type = node.state.values.typeOf(name);
      if (!type)
        return node.error("operand '" + name + "' cannot be computed with");
      SYNCLINE_TRY_MLIR(axis, node.axis(inputs[k].axis, type.getRank()));
      inputs[k].axis = *axis;
      const std::int64_t size = type.getShape()[*axis];
      if (k > 0 && size != count)
        return node.error("expected as many entries in '" + name + "' as in '" +
                          node.proto.input(states) + "', got " + llvm::Twine(size) + " and " +
                          llvm::Twine(count));
      count = size;
    }
    if (count < 1 || count > mostIterations)
      return node.error("expected from 1 to " + llvm::Twine(mostIterations) + " entries, got " +
                        llvm::Twine(count));
    for (int i = 0; i < states; ++i)
      carried.push_back(node.proto.input(i));
    stacked.resize(outputs.size());
    return success();
  }

  /// Entry `i` of a scanned operand.
  FailureOr<std::string> entry(int k, std::int64_t i) {
    const Scanned &scanned = inputs[k];
    FailureOr<std::string> place =
        copies.constant({scanned.isReverse ? count - 1 - i : i}, false, onnx::TensorProto::INT64);
    if (failed(place))
      return failure();
    onnx::NodeProto gather;
    gather.set_op_type("Gather");
    gather.set_name(copies.fresh("Gather"));
    gather.add_input(node.proto.input(states + k));
    gather.add_input(*place);
    gather.add_output(copies.fresh("entry"));
    setAxis(gather, scanned.axis);
    std::string name = gather.output(0);
    if (failed(copies.append(std::move(gather))))
      return failure();
    return name;
  }

  static void setAxis(onnx::NodeProto &proto, std::int64_t value) {
    onnx::AttributeProto &axis = *proto.add_attribute();
    axis.set_name("axis");
    axis.set_type(onnx::AttributeProto::INT);
    axis.set_i(value);
  }

  LogicalResult addIteration(std::int64_t i) {
    Names names;
    for (int s = 0; s < states; ++s)
      names[body->input(s).name()] = carried[s];
    for (int k = 0; k < static_cast<int>(inputs.size()); ++k) {
      FailureOr<std::string> name = entry(k, i);
      if (failed(name))
        return failure();
      names[body->input(states + k).name()] = *name;
    }
    if (failed(copies.copy(*body, node.layerName() + "/" + std::to_string(i), names)))
      return failure();
    const auto made = [&](int k) {
      const auto place = names.find(body->output(k).name());
      return place == names.end() ? body->output(k).name() : place->second;
    };
    for (int s = 0; s < states; ++s)
      carried[s] = made(s);
    for (int k = 0; k < static_cast<int>(outputs.size()); ++k)
      stacked[k].push_back(made(states + k));
    return success();
  }

  /// The values of all iterations beside each other in a new dimension. An axis that counts from
  /// the end counts the new one too.
  LogicalResult stack(int k, const std::string &result) {
    std::vector<std::string> &values = stacked[k];
    if (outputs[k].isReverse)
      std::reverse(values.begin(), values.end());
    onnx::NodeProto concat;
    concat.set_op_type("Concat");
    concat.set_name(copies.fresh("Concat"));
    concat.add_output(result);
    setAxis(concat, outputs[k].axis);
    for (const std::string &value : values) {
      FailureOr<std::string> element = copies.unsqueezed(value, outputs[k].axis);
      if (failed(element))
        return failure();
      concat.add_input(*element);
    }
    return copies.append(std::move(concat));
  }

  NodeImport &node;
  Replacement copies;
  const onnx::GraphProto *body = nullptr;
  int states = 0;
  std::int64_t count = 0;
  std::vector<Scanned> inputs, outputs;
  std::vector<std::string> carried;
  std::vector<std::vector<std::string>> stacked; ///< of each result by iteration: values' names
};

} // namespace

static LogicalResult importScan(NodeImport &node) { return Scan(node).import(); }

OpRows frontend::scanOps() {
  static constexpr OpRow rows[] = {
      {"Scan", {importScan, 1, 0}},
  };
  return rows;
}
