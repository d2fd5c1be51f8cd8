// Reads where a parameter was used from what the exporter says of calls and modules.
#include "frontend/onnx/FoldedParameters.h"

#include "frontend/onnx/TorchMarks.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;

namespace {

/// How many names of modules two paths begin with alike.
std::size_t sharedModules(llvm::StringRef a, llvm::StringRef b) {
  std::size_t count = 0;
  while (!a.empty() && !b.empty()) {
    const auto [first, others] = a.split('.');
    const auto [second, rest] = b.split('.');
    if (first != second)
      break;
    ++count;
    a = others;
    b = rest;
  }
  return count;
}

/// What the exporter says of the nodes that the outputs need.
struct Origins {
  llvm::StringMap<int> readers; ///< parameter in the traced graph → first node
  std::vector<std::pair<std::string, int>> modules;

  Origins(const onnx::GraphProto &graph, const std::vector<int> &order) {
    for (const int i : order) {
      const TorchCall call = callOf(graph.node(i));
      if (call.function.empty())
        continue;
      modules.emplace_back(moduleOf(graph.node(i)), i);
      for (const std::string &parameter : call.parameters)
        readers.try_emplace(parameter, i);
    }
  }

  int nodeOf(llvm::StringRef parameter) const {
    std::string traced = "p_" + parameter.str();
    std::ranges::replace(traced, '.', '_');
    if (const auto reader = readers.find(traced); reader != readers.end())
      return reader->second;
    const auto module = parameter.contains('.') ? parameter.rsplit('.').first : "";
    return std::ranges::max_element(
               modules, {}, [&](const auto &each) { return sharedModules(each.first, module); })
        ->second;
  }
};

} // namespace

bool frontend::placeFolded(const onnx::GraphProto &graph,
                           const std::vector<const ListedParameter *> &parameters,
                           GraphIndex &index, Notes &notes) {
  const Origins origins(graph, index.order);
  if (origins.modules.empty())
    return false;
  for (const ListedParameter *parameter : parameters) {
    index.folded.push_back(
        {parameter->name, nn::elementCount(parameter->dims), origins.nodeOf(parameter->name)});
    notes.add(
        "the file has no tensor of this parameter; it is planned where the exporter folded it "
        "into others",
        parameter->name);
  }
  return true;
}
