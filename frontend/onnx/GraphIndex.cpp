// Indexes and orders an ONNX graph.
#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/Subgraphs.h"
#include "syncline/RowsPart.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include "onnx/onnx_pb.h"

#include <algorithm>
#include <functional>
#include <queue>

using namespace syncline;
using namespace syncline::frontend;

std::string frontend::describeNode(const onnx::NodeProto &node) {
  std::string text = "node ";
  // A result without a name is one that the model leaves out.
  const auto made = std::ranges::find_if(node.output(), [](const auto &it) { return !it.empty(); });
  if (!node.name().empty())
    text += "'" + node.name() + "' ";
  else if (made != node.output().end())
    text += "that makes '" + *made + "' ";
  return text + "(" + (node.op_type().empty() ? "no operation" : node.op_type()) + ")";
}

static Status indexInitializers(const ModelFile &file, GraphIndex &index) {
  for (const auto &tensor : file.initializers) {
    if (tensor->name().empty())
      return Status::badInput("an initialiser has no name");
    if (!index.initializers.try_emplace(tensor->name(), tensor.get()).second)
      return Status::badInput("initialiser '" + tensor->name() + "' is defined twice");
  }
  return Status::ok();
}

/// Names go into text files and, ending in NUL, into the generated step.
static Status checkName(const std::string &what, const std::string &name) {
  if (name.find('\0') == std::string::npos && llvm::json::isUTF8(name))
    return Status::ok();
  return Status::badInput(what + " '" + name + "': expected a name in UTF-8 without NUL");
}

/// Plans call a part of a gradient by the parameter's name and an ending.
static Status checkEnding(const GraphIndex &index, const std::string &name) {
  if (!index.initializers.count(name) || !isRowsPart(name))
    return Status::ok();
  return Status::badInput("initialiser '" + name + "': expected a name that does not end in '" +
                          std::string(rowsEnding) + "', by which plans name a part of a gradient");
}

/// The names of the nodes that the outputs need, and of all that they read and make.
static Status checkNames(const onnx::GraphProto &graph, const GraphIndex &index) {
  for (const onnx::ValueInfoProto *input : index.inputs)
    SYNCLINE_TRY(checkName("tensor", input->name()));
  for (const LossOutput &output : index.outputs)
    SYNCLINE_TRY(checkName("tensor", output.value->name()));
  for (int i : index.order) {
    const onnx::NodeProto &node = graph.node(i);
    SYNCLINE_TRY(checkName("node", node.name()));
    for (const auto *names : {&node.input(), &node.output()})
      for (const std::string &name : *names) {
        SYNCLINE_TRY(checkName("tensor", name));
        SYNCLINE_TRY(checkEnding(index, name));
      }
  }
  return Status::ok();
}

static Status findInputs(const onnx::GraphProto &graph, GraphIndex &index) {
  llvm::StringSet<> names;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    if (!names.insert(input.name()).second)
      return Status::badInput("input '" + input.name() + "' is defined twice");
    if (!index.initializers.count(input.name())) // listed before IR version 4
      index.inputs.push_back(&input);
  }
  return index.inputs.empty() ? Status::badInput("expected a graph input, got none") : Status::ok();
}

/// Moves inputs that no output needs to the others; one stays.
static void dropUnneededInputs(GraphIndex &index) {
  std::vector<const onnx::ValueInfoProto *> all;
  std::swap(all, index.inputs);
  for (const onnx::ValueInfoProto *input : all)
    if (index.uses.count(input->name()))
      index.inputs.push_back(input);
    else
      index.unneededInputs.push_back(input->name());
  if (index.inputs.empty()) {
    index.inputs.push_back(all.front());
    index.unneededInputs.erase(index.unneededInputs.begin());
  }
}

static llvm::StringSet<> inputNames(const GraphIndex &index) {
  llvm::StringSet<> names;
  for (const onnx::ValueInfoProto *input : index.inputs)
    names.insert(input->name());
  return names;
}

static Status indexProducers(const ModelFile &file, GraphIndex &index) {
  const onnx::GraphProto &graph = file.model->graph();
  const llvm::StringSet<> inputs = inputNames(index);
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string &name : graph.node(i).output()) {
      if (i < file.ownNodes && file.isCall[i])
        continue;
      if (name.empty()) // an optional result that is left out
        continue;
      bool taken = index.initializers.count(name) || inputs.contains(name);
      if (taken || !index.producers.try_emplace(name, i).second)
        return Status::badInput(describeNode(graph.node(i)) + ": '" + name +
                                "' is already defined elsewhere");
    }
  return Status::ok();
}

/// Names the nodes that have no name among layers yet.
static void nameLayers(const onnx::GraphProto &graph, GraphIndex &index) {
  llvm::StringSet<> &taken = index.nodeNames, &used = index.layerNames;
  const int first = static_cast<int>(index.layers.size());
  for (int i = first; i < graph.node_size(); ++i)
    taken.insert(graph.node(i).name());
  for (int i = first; i < graph.node_size(); ++i) {
    std::string name = graph.node(i).name();
    if (name.empty() || !used.insert(name).second) {
      name = (name.empty() ? graph.node(i).op_type() : name) + "_" + std::to_string(i);
      while (!taken.insert(name).second)
        name += "_";
      used.insert(name);
    }
    index.layers.push_back(std::move(name));
  }
}

/// Calls `visit` for each operand of the node, and for what its subgraphs read from outside.
template <typename Visit> static void forEachRead(const onnx::NodeProto &node, Visit visit) {
  for (const std::string &name : node.input())
    visit(name);
  forEachCapture(node, visit);
}

void frontend::indexCopies(const onnx::GraphProto &graph, GraphIndex &index) {
  for (int i = static_cast<int>(index.layers.size()); i < graph.node_size(); ++i) {
    forEachRead(graph.node(i), [&](const std::string &name) { ++index.uses[name]; });
    for (const std::string &name : graph.node(i).output())
      index.producers[name] = i;
  }
  nameLayers(graph, index);
}

static std::string whyUndefined(const onnx::GraphProto &graph, const std::string &name) {
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    if (tensor.values().name() == name)
      return "its input '" + name + "' is a sparse initialiser: expected it dense";
  return "nothing defines its input '" + name + "'";
}

/// Marks the nodes that the outputs need and counts the readers of each name.
static Result<std::vector<bool>> markNeeded(const onnx::GraphProto &graph, GraphIndex &index) {
  const llvm::StringSet<> inputs = inputNames(index);
  std::vector<bool> needed(graph.node_size());
  std::vector<int> pending;
  auto read = [&](const std::string &name) {
    ++index.uses[name];
    auto producer = index.producers.find(name);
    if (producer == index.producers.end())
      return inputs.contains(name) || index.initializers.count(name) != 0;
    if (!needed[producer->second]) {
      needed[producer->second] = true;
      pending.push_back(producer->second);
    }
    return true;
  };
  for (const LossOutput &output : index.outputs)
    if (const std::string &name = output.value->name(); !read(name))
      return Status::badInput("nothing defines the graph's output '" + name + "'");
  while (!pending.empty()) {
    const onnx::NodeProto &node = graph.node(pending.back());
    pending.pop_back();
    std::string undefined;
    forEachRead(node, [&](const std::string &name) {
      if (!name.empty() && !read(name) && undefined.empty())
        undefined = name;
    });
    if (!undefined.empty())
      return Status::badInput(describeNode(node) + ": " + whyUndefined(graph, undefined));
  }
  return needed;
}

/// Names the nodes of one cycle, walking backwards from a node that never became ready.
static Status describeCycle(const onnx::GraphProto &graph, const GraphIndex &index,
                            const std::vector<int> &waiting) {
  int at = 0;
  while (waiting[at] <= 0)
    ++at;
  std::vector<int> path;
  std::vector<bool> seen(waiting.size());
  while (!seen[at]) {
    seen[at] = true;
    path.push_back(at);
    int before = -1;
    forEachRead(graph.node(at), [&](const std::string &name) {
      const auto producer = index.producers.find(name);
      if (before < 0 && producer != index.producers.end() && waiting[producer->second] > 0)
        before = producer->second;
    });
    at = before < 0 ? at : before;
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), at));
  constexpr size_t shown = 8;
  std::string names;
  for (size_t i = 0; i < path.size() && i < shown; ++i)
    names += (i ? ", " : "") + describeNode(graph.node(path[i]));
  if (path.size() > shown)
    names += " and " + std::to_string(path.size() - shown) + " more";
  return Status::badInput("the graph has a cycle through " + names);
}

/// Kahn's algorithm, first place first: a sorted file keeps its order.
static Status sortNodes(const ModelFile &file, GraphIndex &index, const std::vector<bool> &needed) {
  const onnx::GraphProto &graph = file.model->graph();
  std::vector<int> waiting(graph.node_size()); // inputs that are not made yet
  std::vector<std::vector<int>> readers(graph.node_size());
  using Place = std::pair<std::int64_t, int>; // in the file, and the node
  std::priority_queue<Place, std::vector<Place>, std::greater<>> ready;
  size_t total = 0;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (!needed[i])
      continue;
    ++total;
    forEachRead(graph.node(i), [&](const std::string &name) {
      if (auto producer = index.producers.find(name); producer != index.producers.end()) {
        ++waiting[i];
        readers[producer->second].push_back(i);
      }
    });
    if (waiting[i] == 0)
      ready.push({file.orders[i], i});
  }
  while (!ready.empty()) {
    const int node = ready.top().second;
    ready.pop();
    index.order.push_back(node);
    for (int reader : readers[node])
      if (--waiting[reader] == 0)
        ready.push({file.orders[reader], reader});
  }
  return index.order.size() == total ? Status::ok() : describeCycle(graph, index, waiting);
}

Result<GraphIndex> frontend::indexGraph(const ModelFile &file, const LossOn &on) {
  const onnx::GraphProto &graph = file.model->graph();
  GraphIndex index;
  SYNCLINE_TRY(indexInitializers(file, index));
  SYNCLINE_TRY(findInputs(graph, index));
  SYNCLINE_TRY_GET(found, findLossOutputs(graph, on));
  index.outputs = std::move(*found);
  SYNCLINE_TRY(indexProducers(file, index));
  SYNCLINE_TRY_GET(needed, markNeeded(graph, index));
  SYNCLINE_TRY(sortNodes(file, index, *needed));
  dropUnneededInputs(index);
  SYNCLINE_TRY(checkNames(graph, index));
  nameLayers(graph, index);
  return index;
}
