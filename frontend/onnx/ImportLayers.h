// ONNX → layers: what a model's nodes compute, move and train, for planning alone.
#pragma once

#include "frontend/onnx/ImportOptions.h"
#include "frontend/onnx/Inventory.h"

#include <array>
#include <cstdint>

namespace syncline::frontend {

/// What the device does in one pass over memory, on values of 32 bits.
struct Work {
  enum class Kind { pass, product, convolution, recurrent, rows };

  double flops = 0; ///< a multiply and an add count as two
  double bytes = 0; ///< read and written
  Kind kind = Kind::pass;
  double rows = 0, columns = 0, summands = 0; ///< of a product, or of a convolution as one
  double count = 1; ///< products of this shape: a convolution's groups, steps of a sequence
};

/// Inputs, outputs and samples of a matrix product that a gradient is.
using FactorDims = std::array<std::int64_t, 3>;

/// A node of the model, or a parameter, which stands right behind the first node that computes with
/// it. That node's backward work makes the parameter's gradient before those of its data.
struct ModelLayer {
  std::string name;          ///< the node's, or the parameter's
  std::string node;          ///< the node that the work belongs to
  std::int64_t bytes = 0;    ///< of the gradient; 0 for a node
  std::int64_t elements = 0; ///< of the gradient; 0 for a node
  std::vector<Work> forward = {}, backward = {};
  std::optional<FactorDims> factors = {};
};

struct ModelLayers {
  std::string name;               ///< the file's, without folder and extension
  std::int64_t batch = 0;         ///< dimension 0 of the first input
  std::vector<ModelLayer> layers; ///< in forward order, names unique
  std::vector<std::string> notes; ///< as ImportedModel::notes
  Inventory inventory;            ///< as ImportedModel::inventory
};

/// Reads the ONNX model at `path` as layers: shapes suffice, so operators that importOnnx has no
/// rule for, several inputs and an output that is the loss are taken. Parameters are those that
/// importOnnx would train, tied ones once. An output of more than one element gets a loss, of which
/// `options.loss` changes only a few bytes. badInput, with the file's and the node's name, where a
/// shape is not known before the step runs, and where nothing is trained.
/// Loads the nn dialect into `context`. Thread-safe for different contexts.
Result<ModelLayers> importLayers(const std::string &path, const ImportOptions &options,
                                 mlir::MLIRContext &context);

} // namespace syncline::frontend
