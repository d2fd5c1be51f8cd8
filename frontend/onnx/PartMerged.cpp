// Tells merged parameters from tied ones by the calls that nodes were made of.
#include "frontend/onnx/PartMerged.h"

#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/Notes.h"
#include "frontend/onnx/TorchMarks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;

namespace {

/// An operand that is an initialiser.
struct Use {
  int node, operand;
  bool isWeight;
  bool isFolded;      ///< holds a normalization that the call was
  std::string source; ///< what it is in the traced graph; "" if that is not known
};

class Parting {
public:
  explicit Parting(ModelFile &file)
      : file(file), graph(*file.model->mutable_graph()), marks(readMarks(file)) {}

  Status run() {
    if (marks.kinds.empty())
      return Status::ok();
    findUses();
    const std::size_t count = file.initializers.size();
    for (std::size_t i = 0; i < count; ++i) // copies are added behind them
      if (auto place = uses.find(file.initializers[i]->name()); place != uses.end())
        part(*file.initializers[i], place->second);
    for (std::size_t i = 0; i < count; ++i)
      findTorn(file.initializers[i]->name());
    if (!doubtful.empty())
      return refusal("makes one tensor of parameters that begin with equal values, and which these "
                     "are is not known of " +
                     listNames(doubtful));
    if (!torn.empty())
      return refusal("makes two tensors of one parameter: " + torn);
    return Status::ok();
  }

private:
  static Status refusal(const std::string &what) {
    return Status::badInput("this file was exported with optimize=True, PyTorch's default, which " +
                            what +
                            "; export it with torch.onnx.export(model, x, f, dynamo=True, "
                            "optimize=False)");
  }

  /// Finds weights that are a copy of another tensor, as the transposed one of a tied embedding.
  void findTorn(const std::string &name) {
    const auto place = uses.find(name);
    if (place == uses.end() || place->second.empty() || !torn.empty())
      return;
    for (const Use &use : place->second) {
      std::string source = marks.originals.lookup(name);
      if (source.empty() && use.isWeight && !use.isFolded)
        source = use.source;
      if (!isTorchParameter(source))
        continue;
      const auto [owner, isNew] = owners.try_emplace(source, name);
      if (!isNew && owner->second != name)
        torn = "'" + owner->second + "' and '" + name + "'";
    }
  }

  bool isCandidate(const onnx::TensorProto &tensor) const {
    const std::string kind = marks.kinds.lookup(tensor.name());
    return isFloatElement(tensor.data_type()) && (kind.empty() || kind == "PARAMETER");
  }

  void findUses() {
    for (const auto &tensor : file.initializers) {
      taken.insert(tensor->name());
      if (isCandidate(*tensor))
        uses[tensor->name()];
    }
    for (int i = 0; i < graph.node_size(); ++i) {
      const onnx::NodeProto &node = graph.node(i);
      for (const std::string &name : node.output())
        taken.insert(name);
      const TorchCall call = callOf(node);
      for (int k = 0; k < node.input_size(); ++k)
        if (auto place = uses.find(node.input(k)); place != uses.end())
          place->second.push_back({i, k, isWeight(node, call, k), call.isBatchNormalization(),
                                   sourceOf(call, node, k)});
    }
  }

  std::string sourceOf(const TorchCall &call, const onnx::NodeProto &node, int k) const {
    const std::string original = marks.originals.lookup(node.input(k));
    if (!original.empty() &&
        (call.parameters.empty() || llvm::is_contained(call.parameters, original)))
      return original;
    return call.argumentOf(node, k);
  }

  void part(const onnx::TensorProto &tensor, std::vector<Use> &places) {
    const std::string original = marks.originals.lookup(tensor.name());
    const bool isRead = !places.empty() && (places.size() > 1 || !original.empty());
    if (!isRead ||
        (original.empty() && !llvm::all_of(places, [](const Use &use) { return use.isWeight; })))
      return; // a constant, such as a mask, or a weight that has one reader
    if (places.size() == 1 && !isTorchParameter(places[0].source))
      return;
    llvm::StringMap<std::string> names; // source → tensor
    for (const Use &use : places) {
      if (names.empty() && (!original.empty() || !use.source.empty()))
        names[original.empty() ? use.source : original] = tensor.name();
      if (names.count(use.source) == 0) {
        if (!isTorchParameter(use.source)) {
          doubtful.push_back(tensor.name());
          return;
        }
        names[use.source] = copy(tensor, use.source);
      }
      graph.mutable_node(use.node)->set_input(use.operand, names[use.source]);
    }
  }

  /// Adds the tensor again as parameter `source`, with what the file says of it.
  std::string copy(const onnx::TensorProto &tensor, const std::string &source) {
    const std::string name = nameOf(tensor.name(), source);
    auto own = std::make_unique<onnx::TensorProto>(tensor);
    own->set_name(name);
    file.initializers.push_back(std::move(own));
    for (int i = 0, count = graph.value_info_size(); i < count; ++i)
      if (graph.value_info(i).name() == tensor.name()) {
        onnx::ValueInfoProto info = graph.value_info(i);
        info.set_name(name);
        *graph.add_value_info() = std::move(info);
        break;
      }
    return name;
  }

  /// Traced graphs write "layers.1.norm.weight" as "p_layers_1_norm_weight". Where the tensor's own
  /// name has as many words, its dots are this one's.
  std::string nameOf(const std::string &tensor, const std::string &source) {
    std::string name = source.substr(2);
    if (llvm::count_if(name, isBreak) == llvm::count_if(tensor, isBreak)) {
      std::size_t at = 0;
      for (const char c : tensor)
        if (isBreak(c)) {
          at = name.find('_', at);
          name[at++] = c;
        }
    }
    while (!taken.insert(name).second)
      name += "_";
    return name;
  }

  static bool isBreak(char c) { return c == '.' || c == '_'; }

  ModelFile &file;
  onnx::GraphProto &graph;
  const TorchMarks marks;
  llvm::StringMap<std::vector<Use>> uses; ///< initialiser → operands, in the file's order
  llvm::StringSet<> taken;
  llvm::StringMap<std::string> owners; ///< source → tensor
  std::vector<std::string> doubtful;
  std::string torn;
};

} // namespace

Status frontend::partMerged(ModelFile &file, bool mayDoubt) {
  const Status parted = Parting(file).run();
  return mayDoubt ? Status::ok() : parted;
}
