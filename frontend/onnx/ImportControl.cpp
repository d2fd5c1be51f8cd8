// If and Loop whose condition and iterations are known at import: bodies are imported in place of
// the node, those of a loop one after the other.
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/FoldConstants.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Replacement.h"

#include "onnx/onnx_pb.h"

#include <limits>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using Names = Inliner::Names;

namespace {

const onnx::GraphProto *bodyOf(NodeImport &node, llvm::StringRef name) {
  const onnx::AttributeProto *attribute = node.attribute(name);
  return attribute && attribute->has_g() ? &attribute->g() : nullptr;
}

std::string resolved(const Names &names, const std::string &name) {
  const auto place = names.find(name);
  return place == names.end() ? name : place->second;
}

/// The value of a known scalar; unset for others.
std::optional<std::int64_t> knownScalar(NodeImport &node, const std::string &name) {
  const ConstantTensor *known =
      node.state.values.isKnown(name) ? node.state.values.constant(name) : nullptr;
  if (!known || known->size() != 1 || known->isReal())
    return std::nullopt;
  return known->ints[0];
}

} // namespace

static LogicalResult importIf(NodeImport &node) {
  const std::optional<std::int64_t> condition = knownScalar(node, node.inputName(0));
  if (!condition)
    return node.error("expected a condition that is known at import, got '" + node.inputName(0) +
                      "'");
  const onnx::GraphProto *body = bodyOf(node, *condition != 0 ? "then_branch" : "else_branch");
  if (!body || body->output_size() != node.proto.output_size())
    return node.error("expected branches with " + llvm::Twine(node.outputCount()) + " results");
  Replacement copies(node);
  Names names;
  if (failed(copies.copy(*body, node.layerName(), names)))
    return failure();
  for (unsigned i = 0; i < node.outputCount(); ++i)
    if (node.isUsed(i) && failed(copies.alias(resolved(names, body->output(int(i)).name()),
                                              node.proto.output(int(i)))))
      return failure();
  return copies.finish();
}

/// Whether no iteration can end the loop: the condition is passed on, or fixed in the body.
static bool goesOnAlways(const onnx::GraphProto &body) {
  std::string name = body.output(0).name();
  for (const onnx::NodeProto &node : llvm::reverse(body.node()))
    if (llvm::is_contained(node.output(), name)) {
      if (node.op_type() == "Constant")
        return true;
      if (node.op_type() != "Identity" || node.input_size() != 1)
        return false;
      name = node.input(0);
    }
  return name == body.input(1).name() ||
         llvm::any_of(body.initializer(), [&](const auto &it) { return it.name() == name; });
}

/// Checks the node and says where the loop begins.
static FailureOr<LoopProgress> beginLoop(NodeImport &node, const onnx::GraphProto &body) {
  const int carried = node.proto.input_size() - 2;
  if (carried < 0 || body.input_size() != carried + 2 || body.output_size() < carried + 1 ||
      node.proto.output_size() > body.output_size() - 1)
    return node.error("expected a body with an input for each value that is carried, two more, and "
                      "a result for each of the node's, and one more");
  LoopProgress loop;
  loop.most = std::numeric_limits<std::int64_t>::max();
  if (node.hasInput(0)) {
    const std::optional<std::int64_t> trips = knownScalar(node, node.inputName(0));
    if (!trips)
      return node.error("expected a number of iterations that is known at import, got '" +
                        node.inputName(0) + "'");
    loop.most = *trips;
  }
  const bool neverBegins = node.hasInput(1) && knownScalar(node, node.inputName(1)) == 0;
  if (loop.most > mostIterations && goesOnAlways(body) && !neverBegins)
    return node.error("expected at most " + llvm::Twine(mostIterations) + " iterations, got " +
                      (node.hasInput(0) ? std::to_string(loop.most) : "a loop without an end"));
  loop.condition = node.hasInput(1) ? node.inputName(1) : std::string();
  for (unsigned i = 2; i < node.inputCount(); ++i) {
    if (!node.hasInput(i))
      return node.error("operand " + llvm::Twine(i + 1) + " is missing");
    loop.carried.push_back(node.inputName(i));
  }
  loop.scanned.resize(body.output_size() - 1 - carried);
  return loop;
}

/// Copies the body for one more iteration. Its constants are made once.
static LogicalResult addIteration(NodeImport &node, const onnx::GraphProto &body,
                                  LoopProgress &loop) {
  Replacement copies(node);
  Names names = loop.constants;
  FailureOr<std::string> number = copies.constant({loop.done}, false, onnx::TensorProto::INT64);
  FailureOr<std::string> goesOn = copies.constant({1}, false, onnx::TensorProto::BOOL);
  if (failed(number) || failed(goesOn))
    return failure();
  names[body.input(0).name()] = *number;
  names[body.input(1).name()] = *goesOn; // an iteration runs only where it is true
  for (std::size_t i = 0; i < loop.carried.size(); ++i)
    names[body.input(int(i) + 2).name()] = loop.carried[i];
  const std::string scope = node.layerName() + "/" + std::to_string(loop.done);
  if (failed(copies.copy(body, scope, names)))
    return failure();
  const auto keep = [&](const std::string &name) {
    if (const auto place = names.find(name); place != names.end())
      loop.constants[name] = place->second;
  };
  for (const onnx::TensorProto &tensor : body.initializer())
    keep(tensor.name());
  for (const onnx::NodeProto &inner : body.node())
    if (inner.op_type() == "Constant" && inner.output_size() == 1)
      keep(inner.output(0));
  for (const onnx::ValueInfoProto &output : body.output()) // the node reads them when it ends
    ++node.state.index.uses[resolved(names, output.name())];
  loop.condition = resolved(names, body.output(0).name());
  const int carried = static_cast<int>(loop.carried.size());
  for (int i = 0; i < carried; ++i)
    loop.carried[i] = resolved(names, body.output(i + 1).name());
  for (std::size_t k = 0; k < loop.scanned.size(); ++k)
    loop.scanned[k].push_back(resolved(names, body.output(int(k) + 1 + carried).name()));
  ++loop.done;
  copies.repeatNode();
  return copies.finish();
}

/// Defines result `i`, which is of no iteration, by what the body says of its elements.
static LogicalResult defineNone(NodeImport &node, const onnx::GraphProto &body, unsigned i) {
  const onnx::ValueInfoProto &element = body.output(static_cast<int>(i) + 1);
  const std::string result = "'" + node.proto.output(static_cast<int>(i)) + "'";
  const onnx::TypeProto::Tensor &type = element.type().tensor_type();
  if (!type.has_shape() || elementBytes(type.elem_type()) == 0)
    return node.error("its result " + result +
                      " is of no iteration: expected a body that states the shape and the element "
                      "type of '" +
                      element.name() + "'");
  nn::Dims dims{0};
  for (const auto &dim : type.shape().dim()) {
    const auto known = node.state.dimensions.find(dim.dim_param());
    if (!dim.has_dim_value() && known == node.state.dimensions.end())
      return node.error("its result " + result + " is of no iteration, and dimension '" +
                        dim.dim_param() + "' is not known");
    dims.push_back(dim.has_dim_value() ? dim.dim_value() : known->second);
  }
  return defineEmpty(node, type.elem_type(), dims, dims, i);
}

/// The values of all iterations, one behind the other in a new first dimension.
static LogicalResult stack(NodeImport &node, Replacement &copies,
                           const std::vector<std::string> &values, const std::string &result) {
  onnx::NodeProto concat;
  concat.set_op_type("Concat");
  concat.set_name(node.layerName() + "/Concat");
  concat.add_output(result);
  onnx::AttributeProto &axis = *concat.add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  axis.set_i(0);
  for (const std::string &value : values) {
    FailureOr<std::string> element = copies.unsqueezed(value, 0);
    if (failed(element))
      return failure();
    concat.add_input(*element);
  }
  return copies.append(std::move(concat));
}

static LogicalResult endLoop(NodeImport &node, const onnx::GraphProto &body,
                             const LoopProgress &loop) {
  Replacement copies(node);
  for (unsigned i = 0; i < node.outputCount(); ++i) {
    if (!node.isUsed(i))
      continue;
    const std::string &result = node.proto.output(int(i));
    const bool isCarried = i < loop.carried.size();
    const LogicalResult made =
        isCarried        ? copies.alias(loop.carried[i], result)
        : loop.done == 0 ? defineNone(node, body, i)
                         : stack(node, copies, loop.scanned[i - loop.carried.size()], result);
    if (failed(made))
      return failure();
  }
  return copies.finish();
}

// The node is imported again behind the copy of its body, until it ends.
static LogicalResult importLoop(NodeImport &node) {
  const onnx::GraphProto *body = bodyOf(node, "body");
  if (!body)
    return node.error("expected a body");
  auto place = node.state.loops.find(node.state.current);
  if (place == node.state.loops.end()) {
    SYNCLINE_TRY_MLIR(begun, beginLoop(node, *body));
    place = node.state.loops.emplace(node.state.current, std::move(*begun)).first;
  }
  LoopProgress &loop = place->second;
  bool goesOn = loop.done < loop.most;
  if (goesOn && !loop.condition.empty()) {
    const std::optional<std::int64_t> condition = knownScalar(node, loop.condition);
    if (!condition)
      return node.error("expected a condition that is known at import, got '" + loop.condition +
                        "'");
    goesOn = *condition != 0;
  }
  if (!goesOn)
    return endLoop(node, *body, loop);
  if (loop.done == mostIterations)
    return node.error("expected at most " + llvm::Twine(mostIterations) + " iterations, got more");
  return addIteration(node, *body, loop);
}

OpRows frontend::controlOps() {
  static constexpr OpRow rows[] = {
      {"If", {importIf, 1, 0}},
      {"Loop", {importLoop, 0, 0}},
  };
  return rows;
}
