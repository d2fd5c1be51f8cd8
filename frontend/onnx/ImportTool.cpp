// syncline-import: prints the step that a model is imported as, for tests.
#include "frontend/onnx/ImportGraph.h"
#include "frontend/onnx/ImportNodes.h"
#include "frontend/onnx/ImportOnnx.h"
#include "syncline/OutputFile.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include "onnx/onnx_pb.h"

#include <bit>
#include <ostream>

using namespace syncline;
using namespace syncline::frontend;
namespace cl = llvm::cl;

/// The values that are computed at import: a line for each result of a node, with its name, type,
/// dimensions, and elements as 64 bits in hexadecimal, those of an integer or a double.
static Status printKnown(const std::string &path, const ImportOptions &options,
                         mlir::MLIRContext &context) {
  context.loadDialect<nn::NNDialect>();
  SYNCLINE_TRY_GET(file, readModelFile(path));
  SYNCLINE_TRY_GET(graph, ImportGraph::begin(*file, options, Purpose::step, context));
  SYNCLINE_TRY(importNodes((*graph)->state(), Refused::areErrors));
  for (const int i : (*graph)->index.order)
    for (const std::string &name : file->model->graph().node(i).output()) {
      if (!(*graph)->values().isKnown(name))
        continue;
      const ConstantTensor &known = *(*graph)->values().constant(name);
      llvm::outs() << name << ' ' << known.type << ' ' << nn::toString(known.dims);
      for (const double value : known.reals)
        llvm::outs() << ' ' << llvm::utohexstr(std::bit_cast<std::uint64_t>(value));
      for (const std::int64_t value : known.ints)
        llvm::outs() << ' ' << llvm::utohexstr(static_cast<std::uint64_t>(value));
      llvm::outs() << '\n';
    }
  return Status::ok();
}

int main(int argc, char **argv) {
  cl::opt<std::string> model(cl::Positional, cl::desc("MODEL.onnx"), cl::Required);
  cl::opt<std::int64_t> batch("batch", cl::desc("samples per rank (default: the file's)"));
  cl::list<std::string> dims("dim", cl::desc("NAME=SIZE of a symbolic dimension"));
  cl::opt<bool> shapes("shapes", cl::desc("parameters may lack values"));
  cl::opt<std::string> loss("loss", cl::desc("loss on the output, as 'syncline compile' takes it"),
                            cl::init("cross-entropy"));
  cl::list<std::string> freeze("freeze", cl::desc("pattern of parameters that are not trained"));
  cl::opt<bool> dropout("dropout", cl::desc("keep Dropout nodes (default: true)"), cl::init(true));
  cl::opt<std::string> output("output", cl::desc("graph output that the loss is on"));
  cl::opt<std::string> weights("weights", cl::desc("write the weights file there"));
  cl::opt<std::string> skeleton("skeleton", cl::desc("write the skeleton model there"));
  cl::opt<bool> known("known", cl::desc("print the values that are computed at import instead"));
  cl::ParseCommandLineOptions(argc, argv, "prints an ONNX model as an nn.step\n");

  ImportOptions options;
  if (batch.getNumOccurrences())
    options.batch = batch;
  const Result<TrainedLoss> read = TrainedLoss::parse(loss);
  if (!read) {
    llvm::errs() << "syncline-import: " << read.status().message() << "\n";
    return read.status().exitCode();
  }
  options.loss = *read;
  options.freeze.assign(freeze.begin(), freeze.end());
  options.dropout = dropout;
  options.output = output;
  options.shapesSuffice = shapes;
  for (const llvm::StringRef dim : dims) {
    const auto [name, size] = dim.split('=');
    if (size.getAsInteger(10, options.dimensions[name.str()])) {
      llvm::errs() << "syncline-import: --dim: expected NAME=SIZE, got '" << dim << "'\n";
      return 1;
    }
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  if (known) {
    const Status status = printKnown(model, options, context);
    if (!status)
      llvm::errs() << "syncline-import: " << status.message() << "\n";
    return status ? 0 : status.exitCode();
  }
  Result<ImportedModel> imported = importOnnx(model, options, context);
  if (!imported) {
    llvm::errs() << "syncline-import: " << imported.status().message() << "\n";
    return imported.status().exitCode();
  }
  for (const std::string &note : imported->notes)
    llvm::errs() << "note: " << note << "\n";
  if (!weights.empty()) {
    const Status status =
        writeWholeFile(weights, [&](std::ostream &out) { return imported->weights.write(out); });
    if (!status) {
      llvm::errs() << "syncline-import: " << status.message() << "\n";
      return status.exitCode();
    }
  }
  if (!skeleton.empty())
    if (Status status = writeWholeFile(skeleton, imported->skeleton); !status) {
      llvm::errs() << "syncline-import: " << status.message() << "\n";
      return status.exitCode();
    }
  imported->module->print(llvm::outs());
  llvm::outs() << "\n";
  return 0;
}
