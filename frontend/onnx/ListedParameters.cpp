// Matches names first, then shapes of tensors that the exporter renamed.
#include "frontend/onnx/ListedParameters.h"

#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/EqualTensors.h"
#include "frontend/onnx/FoldedParameters.h"
#include "frontend/onnx/InferenceExport.h"
#include "frontend/onnx/TorchMarks.h"
#include "syncline/Suggestion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include "onnx/onnx_pb.h"

#include <algorithm>
#include <map>

using namespace syncline;
using namespace syncline::frontend;

namespace {

/// A shape as exporters keep it: they transpose matrices, and add and drop dimensions of 1.
using Key = std::vector<std::int64_t>;

Key keyOf(nn::DimsRef dims) {
  Key key;
  for (const std::int64_t size : dims)
    if (size != 1)
      key.push_back(size);
  if (key.size() == 2 && key[0] > key[1])
    std::swap(key[0], key[1]);
  return key;
}

/// The parameters that one tensor of the file holds.
struct Held {
  Key key;
  std::int64_t count = 1;
  bool isAffine = false; ///< a summand or factor of a node
};

Held heldBy(const onnx::NodeProto &node, int k, nn::DimsRef dims) {
  const llvm::StringRef op = node.op_type();
  const bool isRecurrent = op == "LSTM" || op == "GRU" || op == "RNN";
  if (isRecurrent && k < 3 && dims.size() == 3) // a weight for each direction
    return {keyOf(dims.drop_front()), dims[0]};
  if (isRecurrent && k == 3 && dims.size() == 2) // two biases for each
    return {keyOf(nn::Dims{dims[1] / 2}), 2 * dims[0]};
  const Key key = keyOf(dims);
  return {key, 1, (op == "Mul" || op == "Add") && key.size() == 1};
}

/// What is left to be matched by shape.
struct Group {
  std::vector<const ListedParameter *> names;
  std::vector<std::string> tensors, computed;
  std::int64_t held = 0; ///< parameters that the tensors hold
};

/// Whether the tensor is a value that the exporter computed of parameters. It has the value's name
/// in the call, "mul_3", or a name of no parameter and one dimension, "onnx::Add_7": transposing
/// needs two. A parameter in another order of its axes counts as itself.
bool isComputed(const TorchCall &call, const Held &held, const onnx::TensorProto &proto) {
  const llvm::StringRef tensor = proto.name();
  if (isComputedName(tensor))
    return proto.dims_size() == 1 && held.isAffine;
  const llvm::StringRef function = tensor.rtrim("0123456789").rtrim('_');
  return llvm::is_contained(call.arguments, tensor) && !isTorchParameter(tensor) &&
         llvm::StringSwitch<bool>(function)
             .Cases("t", "permute", "transpose", "view", "reshape", "squeeze", "unsqueeze", false)
             .Cases("alias", "clone", "detach", "_to_copy", "to", "contiguous", false)
             .Default(true);
}

class Finder {
public:
  Finder(const ModelFile &file, const ParameterList &list, bool mayLack, GraphIndex &index,
         Notes &notes)
      : file(file), graph(file.model->graph()), list(list), mayLack(mayLack), index(index),
        notes(notes), listed(index.listed.emplace()) {}

  Status run() {
    for (const ListedParameter &parameter : list)
      names.insert(parameter.name);
    findNames();
    for (const ListedParameter &parameter : list)
      SYNCLINE_TRY(matchName(parameter));
    if (groups.empty())
      return Status::ok();
    findRenamed();
    return matchShapes();
  }

private:
  void findNames() {
    for (const auto &entry : index.initializers)
      addTensor(entry.getKey(), entry.getValue());
    for (const onnx::NodeProto &node : graph.node()) {
      const llvm::StringRef op = node.op_type();
      if (node.output_size() != 1)
        continue;
      if (op == "ConstantOfShape" || op == "RandomNormal" || op == "RandomUniform")
        addTensor(node.output(0), nullptr);
      else if (op == "Identity" && node.input_size() == 1)
        if (const auto place = tensors.find(node.input(0)); place != tensors.end())
          addTensor(node.output(0), place->second);
    }
  }

  void addTensor(llvm::StringRef name, const onnx::TensorProto *tensor) {
    tensors[name] = tensor;
    inTrace[traced(name)].push_back(name.str());
  }

  /// A name as traced graphs have it, where copies of merged parameters get theirs from.
  static std::string traced(llvm::StringRef name) {
    std::string text = name.str();
    std::ranges::replace(text, '.', '_');
    return text;
  }

  Status matchName(const ListedParameter &parameter) {
    auto place = tensors.find(parameter.name);
    if (place == tensors.end())
      if (const auto same = inTrace.find(traced(parameter.name));
          same != inTrace.end() && same->second.size() == 1 &&
          !names.contains(same->second.front()))
        place = tensors.find(same->second.front());
    if (place == tensors.end()) {
      groups[keyOf(parameter.dims)].names.push_back(&parameter);
      return Status::ok();
    }
    if (const onnx::TensorProto *tensor = place->second) {
      const nn::Dims dims(tensor->dims().begin(), tensor->dims().end());
      if (!isFloatElement(tensor->data_type()))
        return Status::badInput("--parameters lists " + describe(parameter) +
                                ", which is not floating-point in the file");
      if (keyOf(dims) != keyOf(parameter.dims))
        return Status::badInput("--parameters lists " + describe(parameter) + ", which has shape " +
                                nn::toString(dims) + " in the file");
    }
    listed.insert(place->first());
    return Status::ok();
  }

  /// Finds weights, scales and biases that no name of the list is left for.
  void findRenamed() {
    llvm::StringSet<> seen;
    for (const int i : index.order) {
      const onnx::NodeProto &node = graph.node(i);
      const TorchCall call = callOf(node);
      for (int k = 0; k < node.input_size(); ++k) {
        const std::string &name = node.input(k);
        const onnx::TensorProto *tensor = tensors.lookup(name);
        if (!tensor || !isFloatElement(tensor->data_type()) || listed.contains(name))
          continue;
        const nn::Dims dims(tensor->dims().begin(), tensor->dims().end());
        const Held held = heldBy(node, k, dims);
        const auto group = groups.find(held.key);
        if ((!held.isAffine && !isWeight(node, call, k)) || group == groups.end() ||
            !seen.insert(name).second)
          continue;
        if (mayLack && takesName(call, node, k, group->second)) {
          listed.insert(name);
          noteRenamed(name);
          continue;
        }
        if (isComputed(call, held, *tensor)) {
          group->second.computed.push_back(name);
          continue;
        }
        group->second.tensors.push_back(name);
        group->second.held += held.count;
      }
    }
  }

  /// Whether operand `k` of the node is one of the group's parameters by the call that the node was
  /// made of; takes its name off the group.
  static bool takesName(const TorchCall &call, const onnx::NodeProto &node, int k, Group &group) {
    if (call.isBatchNormalization() && node.op_type() != "BatchNormalization")
      return false; // folded into a convolution's operands, not one of them
    const std::string argument = call.argumentOf(node, k);
    return std::erase_if(group.names, [&](const ListedParameter *parameter) {
             return "p_" + traced(parameter->name) == argument;
           }) > 0;
  }

  void noteRenamed(const std::string &tensor) {
    notes.add("taken for listed parameters of its shape that the file has under no name of theirs",
              tensor);
  }

  Status matchShapes() {
    std::vector<const ListedParameter *> lacking;
    for (auto &[key, group] : groups) {
      const auto count = static_cast<std::int64_t>(group.names.size());
      if (group.held > count && group.held == std::ssize(group.tensors)) {
        group.tensors = distinct(file, index, group.tensors);
        group.held = std::ssize(group.tensors);
      }
      if (count == 0)
        continue;
      if (group.held < count) {
        lacking.insert(lacking.end(), group.names.begin(), group.names.end());
        continue;
      }
      if (group.held > count)
        return Status::badInput("--parameters lists " + describe(*group.names.front()) +
                                ", which the file has under another name; which of " +
                                listNames(group.tensors) + " is not known: list it by that name");
      for (const std::string &name : group.tensors) {
        listed.insert(name);
        noteRenamed(name);
      }
    }
    std::ranges::sort(lacking); // in the list's order
    if (mayLack)
      lacking = placeFolded(file, lacking, index, notes);
    return lacking.empty() ? Status::ok() : lacks(lacking);
  }

  Status lacks(const std::vector<const ListedParameter *> &lacking) const {
    constexpr std::size_t shown = 3;
    std::string text = "--parameters lists what the file lacks: ";
    for (std::size_t i = 0; i < lacking.size() && i < shown; ++i)
      text += (i ? ", " : "") + describe(*lacking[i]);
    if (lacking.size() > shown)
      text += " and " + std::to_string(lacking.size() - shown) + " more";
    const auto nodes = madeOf(lacking);
    const std::vector<std::string> holders = holdersOf(lacking, nodes);
    if (!nodes.empty() || !holders.empty())
      return Status::badInput(text + "; PyTorch's exporter folded such parameters into others, " +
                              (holders.empty() ? "as normalizations into convolutions"
                                               : "here likely into " + listNames(holders)) +
                              ", or left them out; " +
                              (llvm::any_of(holders, isComputedName) ? howToTrace : howToExport));
    if (const std::optional<std::string> note = noteInferenceExport(file, index))
      return Status::badInput(text + "; " + *note);
    std::vector<std::string_view> known;
    for (const auto &[name, tensor] : index.initializers)
      if (!listed.contains(name))
        known.push_back(name);
    std::ranges::sort(known);
    return Status::badInput(text +
                            (known.empty() ? "" : suggestionOfMany(lacking.front()->name, known)));
  }

  /// The nodes that were made of calls with any of these parameters.
  std::vector<const onnx::NodeProto *>
  madeOf(const std::vector<const ListedParameter *> &parameters) const {
    std::vector<const onnx::NodeProto *> nodes;
    for (const onnx::NodeProto &node : graph.node()) {
      const TorchCall call = callOf(node);
      if (llvm::any_of(parameters, [&](const ListedParameter *parameter) {
            return llvm::is_contained(call.parameters, "p_" + traced(parameter->name));
          }))
        nodes.push_back(&node);
    }
    return nodes;
  }

  /// Tensors of the file that these parameters may be part of, among them what `nodes` read.
  std::vector<std::string> holdersOf(const std::vector<const ListedParameter *> &parameters,
                                     const std::vector<const onnx::NodeProto *> &nodes) const {
    std::vector<std::string> names;
    for (const onnx::NodeProto *node : nodes)
      for (const std::string &name : node->input())
        if (const onnx::TensorProto *tensor = tensors.lookup(name);
            tensor && isFloatElement(tensor->data_type()))
          names.push_back(name);
    for (const ListedParameter *parameter : parameters) {
      const Group &group = groups.at(keyOf(parameter->dims));
      llvm::append_range(names, group.computed);
      if (parameter->dims.size() == 1) // a matrix may merely be transposed
        llvm::copy_if(group.tensors, std::back_inserter(names), isComputedName);
    }
    llvm::sort(names);
    names.erase(llvm::unique(names), names.end());
    return names;
  }

  const ModelFile &file;
  const onnx::GraphProto &graph;
  const ParameterList &list;
  const bool mayLack;
  GraphIndex &index;
  Notes &notes;
  llvm::StringSet<> &listed;
  llvm::StringSet<> names;                            ///< of the list
  llvm::StringMap<const onnx::TensorProto *> tensors; ///< null for generators
  llvm::StringMap<std::vector<std::string>> inTrace;  ///< names by traced()
  std::map<Key, Group> groups;
};

} // namespace

Status frontend::findListed(const ModelFile &file, const ParameterList &list, bool mayLack,
                            GraphIndex &index, Notes &notes) {
  return Finder(file, list, mayLack, index, notes).run();
}
