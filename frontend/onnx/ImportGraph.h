// An import under way: the graph's index, its bound inputs and the step that is being built.
#pragma once

#include "frontend/onnx/BindInputs.h"
#include "frontend/onnx/Inline.h"
#include "frontend/onnx/NodeImport.h"
#include "frontend/onnx/PartMerged.h"

#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace syncline::frontend {

/// What an import makes: a step that is run, or layers whose times are planned.
enum class Purpose { step, layers };

class ImportGraph {
public:
  /// Indexes the graph, binds its inputs and begins an nn.step, named after the file, with an
  /// nn.input for each. `file` and `options` must outlive the result. Messages do not name `file`.
  static Result<std::unique_ptr<ImportGraph>> begin(ModelFile &file, const ImportOptions &options,
                                                    Purpose purpose, mlir::MLIRContext &context);

  GraphIndex index;
  BoundInputs bound;
  Notes notes;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Block *block; ///< the step's

  StoredTensors &stored() { return *storedTensors; }
  GraphValues &values() { return *graphValues; }
  ImportState &state() { return *importState; }

private:
  ImportGraph() = default;

  /// Makes the operation of input `i`, whose samples lie one behind the other in a step.
  Status addInput(std::size_t i, Purpose purpose);

  std::optional<mlir::OpBuilder> builder;
  std::optional<StoredTensors> storedTensors;
  std::optional<GraphValues> graphValues;
  std::optional<ImportState> importState;
};

/// A message or note with names from a file, which may hold anything, in one line of UTF-8.
std::string printable(const std::string &text);

/// Reads the file and imports it by `import`; errors name the file, they and notes are printable.
template <typename Model, typename Import>
Result<Model> importNamed(const std::string &path, const ImportOptions &options, Purpose purpose,
                          Import import) {
  if (options.batch && *options.batch < 1)
    return Status::badInput("expected a batch of at least 1, got " +
                            std::to_string(*options.batch));
  SYNCLINE_TRY_GET(file, readModelFile(path));
  Status parted = partMerged(*file, purpose == Purpose::layers && options.parameters);
  if (parted)
    parted = inlineFunctions(*file);
  Result<Model> model = parted ? import(*file) : Result<Model>(parted);
  if (!model)
    return Status::error(model.status().kind(),
                         printable("'" + path + "': " + model.status().message()));
  for (std::string &note : model->notes)
    note = printable(note);
  return model;
}

} // namespace syncline::frontend
