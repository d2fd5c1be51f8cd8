// Reads the metadata of PyTorch's exporter.
#include "frontend/onnx/TorchMarks.h"

#include "frontend/onnx/ElementType.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

#include "onnx/onnx_pb.h"

#include <google/protobuf/unknown_field_set.h>

using namespace syncline;
using namespace syncline::frontend;

/// What a message's properties say under `key`, "" where they do not. They are a field of
/// ValueInfoProto and NodeProto since IR version 10, which the installed library does not know.
static std::string propertyOf(const google::protobuf::UnknownFieldSet &fields, int number,
                              llvm::StringRef key) {
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField &field = fields.field(i);
    onnx::StringStringEntryProto entry;
    if (field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
        entry.ParseFromString(field.length_delimited()) && entry.key() == key)
      return entry.value();
  }
  return "";
}

static std::string propertyOf(const onnx::ValueInfoProto &value, llvm::StringRef key) {
  return propertyOf(value.unknown_fields(), 4, key);
}

static std::string propertyOf(const onnx::NodeProto &node, llvm::StringRef key) {
  return propertyOf(node.unknown_fields(), 9, key);
}

TorchMarks frontend::readMarks(const ModelFile &file) {
  llvm::StringSet<> floats;
  for (const auto &tensor : file.initializers)
    if (isFloatElement(tensor->data_type()))
      floats.insert(tensor->name());
  TorchMarks marks;
  for (const onnx::ValueInfoProto &value : file.model->graph().value_info()) {
    if (!floats.contains(value.name()))
      continue;
    const std::string kind = propertyOf(value, "pkg.torch.export.graph_signature.InputSpec.kind");
    if (kind.empty())
      continue;
    marks.kinds[value.name()] = kind;
    if (kind == "PARAMETER")
      marks.originals[value.name()] = propertyOf(value, "pkg.torch.onnx.original_node_name");
  }
  return marks;
}

/// The parts of an argument list, at commas outside brackets: "%x, [2, 3], None".
static std::vector<std::string> splitArguments(llvm::StringRef text) {
  std::vector<std::string> arguments(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[';
    depth -= c == ')' || c == ']';
    if (depth < 0)
      break;
    if (c == ',' && depth == 0)
      arguments.emplace_back();
    else if (c != ' ' && c != '%')
      arguments.back() += c;
  }
  return arguments;
}

/// The exporter writes "%linear : [num_users=1] = call_function[target=torch.ops.aten.linear
/// .default](args = (%x, %p_fc_weight, %p_fc_bias), kwargs = {})".
TorchCall frontend::callOf(const onnx::NodeProto &node) {
  const std::string text = propertyOf(node, "pkg.torch.onnx.fx_node");
  TorchCall call;
  llvm::StringRef function = llvm::StringRef(text).split("target=").second.split(']').first;
  function.consume_front("torch.ops.aten.");
  call.function = function.split('.').first.str();
  const auto at = text.find("args = (");
  if (at == std::string::npos)
    return call;
  const llvm::StringRef arguments = llvm::StringRef(text).drop_front(at + 8);
  call.arguments = splitArguments(arguments);
  llvm::SmallVector<llvm::StringRef> values;
  arguments.split(values, '%');
  for (const llvm::StringRef value : llvm::drop_begin(values)) {
    const llvm::StringRef name =
        value.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (isTorchParameter(name))
      call.parameters.push_back(name.str());
  }
  return call;
}

/// The exporter writes "['', 'layers.1', 'layers.1.norm', 'layer_norm']", the call last.
std::string frontend::moduleOf(const onnx::NodeProto &node) {
  const std::string text = propertyOf(node, "pkg.torch.onnx.name_scopes");
  llvm::SmallVector<llvm::StringRef> scopes;
  llvm::StringRef(text).trim("[]").split(scopes, ", ");
  return scopes.size() < 2 ? "" : scopes[scopes.size() - 2].trim("'").str();
}

bool frontend::isTorchParameter(llvm::StringRef name) { return name.starts_with("p_"); }

bool TorchCall::isBatchNormalization() const {
  return llvm::StringRef(function).contains("batch_norm");
}

/// Its arguments are (input, weight, bias, running mean, running variance, training, ..); of the
/// functions without running statistics and without training they are others.
bool TorchCall::trainsBatchNormalization() const {
  constexpr std::size_t mean = 3, training = 5;
  return isBatchNormalization() && arguments.size() > training && arguments[mean] != "None" &&
         arguments[training] == "True";
}

/// Which arguments of a function are its weight and bias; -1 for none.
static std::pair<int, int> weightAndBias(llvm::StringRef function) {
  if (function.contains("batch_norm"))
    return {1, 2};
  return llvm::StringSwitch<std::pair<int, int>>(function)
      .Cases("linear", "convolution", {1, 2})
      .StartsWith("conv", {1, 2})
      .Case("addmm", {2, 0})
      .Case("embedding", {0, -1})
      .Cases("layer_norm", "group_norm", {2, 3})
      .Case("rms_norm", {2, -1})
      .Cases("prelu", "_prelu_kernel", {1, -1})
      .Default({-1, -1});
}

std::string TorchCall::argumentOf(const onnx::NodeProto &node, int k) const {
  const llvm::StringRef op = node.op_type();
  const auto [weight, bias] = weightAndBias(function);
  const bool isBias = op == "Add" || k == 2;
  const bool isWeight = op == "MatMul" || op == "Mul" || k == 1 || (op == "Gather" && k == 0);
  const int at = isBias ? bias : isWeight ? weight : -1;
  if (at >= 0 && at < static_cast<int>(arguments.size()))
    return arguments[at];
  return parameters.size() == 1 ? parameters.front() : "";
}

static bool isRecurrent(llvm::StringRef op) { return op == "LSTM" || op == "GRU" || op == "RNN"; }

bool frontend::isNumbers(const onnx::NodeProto &node, const TorchCall &call, int k) {
  if (node.op_type() == "InstanceNormalization")
    return k > 0 && call.function == "group_norm";
  if (!isRecurrent(node.op_type()) || k < 5 || k > 6 || call.arguments.size() < 2)
    return false;
  llvm::SmallVector<llvm::StringRef> states;
  llvm::StringRef(call.arguments[1]).trim("[]").split(states, ',');
  return llvm::all_of(states, [](llvm::StringRef name) { return name.starts_with("zeros"); });
}

bool frontend::isWeight(const onnx::NodeProto &node, const TorchCall &call, int k) {
  const llvm::StringRef op = node.op_type();
  if (op == "MatMul" || op == "Gemm" || op == "Einsum")
    return true;
  if (op == "Gather")
    return k == 0 && (call.function.empty() || call.function == "embedding");
  if (op == "Add" || op == "Mul") // a bias or a scale, where the call has one
    return isTorchParameter(call.argumentOf(node, k));
  if (op == "PRelu")
    return k == 1;
  if (isRecurrent(op))
    return k >= 1 && k <= 3;
  const bool hasBias = llvm::StringSwitch<bool>(op)
                           .Cases("Conv", "ConvTranspose", "BatchNormalization", true)
                           .Cases("LayerNormalization", "RMSNormalization", true)
                           .Case("GroupNormalization", true)
                           .Default(false);
  return hasBias && (k == 1 || k == 2);
}
