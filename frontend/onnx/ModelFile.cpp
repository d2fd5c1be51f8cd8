// Opens, bounds and parses model files.
#include "frontend/onnx/ModelFile.h"

#include "onnx/onnx_pb.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>

using namespace syncline;
using namespace syncline::frontend;
namespace fs = std::filesystem;

ModelFile::ModelFile() = default;
ModelFile::ModelFile(ModelFile &&) = default;
ModelFile::~ModelFile() = default;

bool frontend::isDefaultDomain(const std::string &domain) {
  return domain.empty() || domain == "ai.onnx";
}

static Status checkFile(const std::string &path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (error || !fs::exists(status))
    return Status::badInput("cannot open '" + path + "': no such file");
  if (!fs::is_regular_file(status))
    return Status::badInput("cannot open '" + path + "': it is not a regular file");
  auto size = fs::file_size(path, error);
  if (!error && size == 0)
    return Status::badInput("'" + path + "' is empty");
  if (!error && size > std::numeric_limits<std::int32_t>::max())
    return Status::badInput("'" + path + "' has " + std::to_string(size) +
                            " bytes, and protobuf files end at 2 GiB: save the model with external "
                            "data");
  return Status::ok();
}

static Status parse(const std::string &path, onnx::ModelProto &model) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Status::badInput("cannot open '" + path + "' for reading");
  google::protobuf::LogSilencer silence; // the error below is the only message
  google::protobuf::io::IstreamInputStream stream(&in, 1 << 20);
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<std::int32_t>::max());
  if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
    return Status::badInput("'" + path + "' is not an ONNX model, or is cut short");
  if (!model.has_graph() || model.graph().node_size() == 0)
    return Status::badInput("'" + path + "' is not an ONNX model: it has no graph with nodes");
  return Status::ok();
}

static Result<std::int64_t> findOpset(const onnx::ModelProto &model, const std::string &path) {
  std::optional<std::int64_t> version;
  for (const onnx::OperatorSetIdProto &set : model.opset_import()) {
    if (!isDefaultDomain(set.domain()))
      continue;
    if (version && *version != set.version())
      return Status::badInput("'" + path + "' states two operator sets for one domain, " +
                              std::to_string(*version) + " and " + std::to_string(set.version()));
    version = set.version();
  }
  if (!version)
    return Status::badInput("'" + path + "' does not say which operator set it uses");
  if (*version >= oldestOpset && *version <= newestOpset)
    return *version;
  return Status::badInput(
      "'" + path + "': expected an operator set from " + std::to_string(oldestOpset) + " to " +
      std::to_string(newestOpset) + ", got " + std::to_string(*version) +
      (*version < oldestOpset ? "; onnx.version_converter converts models to a newer one" : ""));
}

Result<ModelFile> frontend::readModelFile(const std::string &path) {
  SYNCLINE_TRY(checkFile(path));
  ModelFile file;
  file.path = path;
  file.folders = dataFoldersOf(path);
  file.stem = fs::path(path).stem().string();
  file.model = std::make_unique<onnx::ModelProto>();
  SYNCLINE_TRY(parse(path, *file.model));
  SYNCLINE_TRY_GET(opset, findOpset(*file.model, path));
  file.opset = *opset;
  auto &list = *file.model->mutable_graph()->mutable_initializer();
  file.initializers.resize(list.size());
  for (auto place = file.initializers.rbegin(); place != file.initializers.rend(); ++place)
    place->reset(list.ReleaseLast());
  file.ownNodes = file.model->graph().node_size();
  file.isCall.resize(file.ownNodes);
  file.orders.resize(file.ownNodes);
  std::iota(file.orders.begin(), file.orders.end(), 0);
  return file;
}

namespace {

class Walk {
public:
  explicit Walk(llvm::function_ref<void(onnx::TensorProto &)> visit) : visit(visit) {}

  void enter(onnx::GraphProto &graph) {
    for (onnx::TensorProto &tensor : *graph.mutable_initializer())
      visit(tensor);
    enter(*graph.mutable_node());
  }

  void enter(google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes) {
    for (onnx::NodeProto &node : nodes)
      for (onnx::AttributeProto &attribute : *node.mutable_attribute())
        enter(attribute);
  }

private:
  void enter(onnx::AttributeProto &attribute) {
    if (attribute.has_t())
      visit(*attribute.mutable_t());
    for (onnx::TensorProto &tensor : *attribute.mutable_tensors())
      visit(tensor);
    if (attribute.has_g())
      enter(*attribute.mutable_g());
    for (onnx::GraphProto &graph : *attribute.mutable_graphs())
      enter(graph);
  }

  llvm::function_ref<void(onnx::TensorProto &)> visit;
};

} // namespace

void frontend::forEachTensor(onnx::ModelProto &model,
                             llvm::function_ref<void(onnx::TensorProto &)> visit) {
  Walk walk(visit);
  walk.enter(*model.mutable_graph());
  for (onnx::FunctionProto &function : *model.mutable_functions())
    walk.enter(*function.mutable_node());
}
