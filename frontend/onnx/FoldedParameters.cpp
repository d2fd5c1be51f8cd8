// Reads where a parameter was used from what the exporter says of calls and modules.
#include "frontend/onnx/FoldedParameters.h"

#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/TorchMarks.h"

#include "llvm/ADT/STLExtras.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;

namespace {

llvm::StringRef parentOf(llvm::StringRef path) {
  return path.contains('.') ? path.rsplit('.').first : "";
}

/// What the exporter says of the nodes that the outputs need.
class Origins {
public:
  Origins(const ModelFile &file, const GraphIndex &index) : index(index), marks(readMarks(file)) {
    for (const int i : index.order) {
      const onnx::NodeProto &node = file.model->graph().node(i);
      const TorchCall call = callOf(node);
      for (const std::string &parameter : call.parameters)
        readers.try_emplace(parameter, i);
      if (!call.function.empty() &&
          llvm::any_of(node.input(), [&](const std::string &name) { return isMade(name); }))
        modules.try_emplace(moduleOf(node), i);
    }
  }

  std::optional<int> nodeOf(llvm::StringRef parameter) const {
    std::string traced = "p_" + parameter.str();
    std::ranges::replace(traced, '.', '_');
    if (const auto reader = readers.find(traced); reader != readers.end())
      return reader->second;
    const llvm::StringRef module = parentOf(parameter);
    for (const llvm::StringRef holder : {module, parentOf(module)})
      if (const auto node = modules.find(holder); node != modules.end())
        return node->second;
    return std::nullopt;
  }

private:
  /// Whether the tensor is of several numbers and the exporter's own, not one that the list lacks.
  bool isMade(llvm::StringRef name) const {
    const onnx::TensorProto *tensor = index.initializers.lookup(name);
    return tensor && isFloatElement(tensor->data_type()) && !index.listed->contains(name) &&
           marks.kinds.lookup(name).empty() &&
           llvm::any_of(tensor->dims(), [](std::int64_t size) { return size > 1; });
  }

  const GraphIndex &index;
  const TorchMarks marks;
  llvm::StringMap<int> readers; ///< parameter in the traced graph → first node
  llvm::StringMap<int> modules; ///< those whose nodes read a tensor that was made → the first one
};

} // namespace

std::vector<const ListedParameter *>
frontend::placeFolded(const ModelFile &file, const std::vector<const ListedParameter *> &parameters,
                      GraphIndex &index, Notes &notes) {
  const Origins origins(file, index);
  std::vector<const ListedParameter *> lacking;
  for (const ListedParameter *parameter : parameters) {
    const std::optional<int> node = origins.nodeOf(parameter->name);
    if (!node) {
      lacking.push_back(parameter);
      continue;
    }
    index.folded.push_back({parameter->name, nn::elementCount(parameter->dims), *node});
    notes.add("the file has no tensor of this parameter; it is planned where the exporter folded "
              "it into others",
              parameter->name);
  }
  return lacking;
}
