// Parses, saves and imports test models.
#include "TestModel.h"

#include "frontend/onnx/ImportLayers.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;
namespace fs = std::filesystem;

void test::expectError(const Outcome &outcome, const std::string &text) {
  EXPECT_NE(outcome.error.find(text), std::string::npos)
      << "expected: " << text << "\ngot: " << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.exitCode, 1);
}

int Outcome::count(const std::string &text) const {
  int found = 0;
  for (size_t at = ir.find(text); at != std::string::npos; at = ir.find(text, at + 1))
    ++found;
  return found;
}

namespace {
struct Scratch {
  fs::path folder =
      fs::temp_directory_path() / ("syncline-onnx-test-" + std::to_string(::getpid()));
  Scratch() { fs::create_directories(folder); }
  ~Scratch() { fs::remove_all(folder); }
};
} // namespace

std::string test::scratchPath(const std::string &name) {
  static Scratch scratch;
  return (scratch.folder / name).string();
}

onnx::ModelProto test::parseModel(int opset, const std::string &graph) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  onnx::OperatorSetIdProto *set = model.add_opset_import();
  set->set_version(opset);
  onnx::OnnxParser parser(graph.c_str());
  onnx::Common::Status status = parser.Parse(*model.mutable_graph());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return model;
}

Outcome test::importText(int opset, const std::string &graph, const ImportOptions &options,
                         const Edit &edit) {
  onnx::ModelProto model = parseModel(opset, graph);
  if (edit)
    edit(model);
  return importBytes(model.SerializeAsString(), options);
}

Outcome test::importBytes(const std::string &bytes, const ImportOptions &options) {
  std::string path = scratchPath("model.onnx");
  std::ofstream(path, std::ios::binary) << bytes;
  return importFile(path, options);
}

/// Expects that a model whose step is imported is planned by its shapes with the same parameters.
static void expectSameLayers(const std::string &path, const ImportOptions &options,
                             ImportedModel &imported, mlir::MLIRContext &context) {
  std::map<std::string, std::int64_t> trained, planned;
  imported.module->walk([&](nn::ParameterOp parameter) {
    const auto type = mlir::cast<mlir::RankedTensorType>(parameter.getResult().getType());
    trained[parameter.getName().str()] = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  });
  Result<ModelLayers> layers = importLayers(path, options, context);
  // Where a step trains nothing, differentiation says so.
  if (!layers &&
      layers.status().message().ends_with("no parameter that could be trained reaches the output"))
    return;
  ASSERT_TRUE(bool(layers)) << layers.status().message();
  for (const ModelLayer &layer : layers->layers)
    if (layer.bytes > 0)
      planned[layer.name] = layer.bytes;
  EXPECT_EQ(trained, planned);
}

Outcome test::importFile(const std::string &path, const ImportOptions &options) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Outcome outcome;
  Result<ImportedModel> imported = importOnnx(path, options, context);
  if (!imported) {
    outcome.error = imported.status().message();
    outcome.exitCode = imported.status().exitCode();
    return outcome;
  }
  expectSameLayers(path, options, *imported, context);
  imported->module->walk([](mlir::Operation *op) { op->removeAttr(nn::layerAttr); });
  std::string printed;
  llvm::raw_string_ostream(printed) << *imported->module;
  for (const char c : printed) { // less the printer's second space before a kind
    const llvm::StringRef before = outcome.ir;
    if (c != ' ' || !(before.ends_with("ary ") || before.ends_with("reduce ")))
      outcome.ir += c;
  }
  outcome.notes = imported->notes;
  outcome.skeleton = imported->skeleton;
  std::ostringstream weights;
  EXPECT_TRUE(imported->weights.write(weights).isOk());
  outcome.weights = weights.str();
  EXPECT_EQ(static_cast<std::int64_t>(outcome.weights.size()), imported->weights.size());
  return outcome;
}

onnx::StringStringEntryProto test::property(const std::string &key, const std::string &value) {
  onnx::StringStringEntryProto made;
  made.set_key(key);
  made.set_value(value);
  return made;
}

void test::markCall(onnx::NodeProto &node, const std::string &function,
                    const std::string &arguments, const std::string &module) {
  const std::string text = "%made : [num_users=1] = call_function[target=torch.ops.aten." +
                           function + ".default](args = (" + arguments + "), kwargs = {})";
  for (const auto &mark :
       {property("pkg.torch.onnx.fx_node", text),
        property("pkg.torch.onnx.name_scopes", "['', '" + module + "', '" + function + "']")})
    node.mutable_unknown_fields()->AddLengthDelimited(9, mark.SerializeAsString());
}

ImportOptions test::meanSquare() {
  ImportOptions options;
  options.loss.kind = LossKind::mse;
  return options;
}

Outcome test::importNodes(int opset, const std::string &nodes, const Edit &edit) {
  return importText(opset,
                    "agraph (float[2,4,8,8] x) => (float[2] y) {\n"
                    "w = RandomNormal <shape = [4, 1, 1]> ()\n"
                    "h = Mul(x, w)\n" +
                        nodes + "\n}",
                    meanSquare(), edit);
}
