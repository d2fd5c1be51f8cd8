// Where the tensors of a step have the batch, followed from the inputs through its operations.
#pragma once

#include "frontend/onnx/ConstantTensor.h"
#include "ir/nn/NN.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>
#include <string>
#include <utility>

namespace syncline::frontend {

/// Dimension `dim` has outer·batch·inner entries: entry (o·batch + s)·inner + i is of sample s.
/// `outer` counts the entries of dimensions that are merged with the batch before it, `inner` those
/// behind it.
struct BatchPlace {
  std::int64_t dim = 0, outer = 1, inner = 1;

  std::int64_t factor() const { return outer * inner; }
  bool operator==(const BatchPlace &) const = default;
};

/// How many elements of each sample lie, in row-major order, before and behind the batch.
struct BatchSpan {
  std::int64_t before = 1, after = 1;
};

BatchSpan spanOf(nn::DimsRef dims, const BatchPlace &place);
/// The place in dimension `dim` of `dims`; unset where samples would not lie in it alone.
std::optional<BatchPlace> placeAt(nn::DimsRef dims, std::int64_t dim, BatchSpan span,
                                  std::int64_t batch);
/// The place in `dims`: of several the one with the fewest merged entries. Unset without any.
std::optional<BatchPlace> placeIn(nn::DimsRef dims, BatchSpan span, std::int64_t batch);

/// Every sample has to be computed as if it were alone. What a tensor without a place has is the
/// same for all samples. Batch statistics of normalizations are not followed. Not thread-safe.
class BatchLayout {
public:
  using Place = std::optional<BatchPlace>;

  BatchLayout() = default;
  /// `exported`: the batch that the file fixes.
  BatchLayout(std::int64_t batch, std::optional<std::int64_t> exported)
      : batch(batch), exported(exported) {}

  /// States the place of a value before anything asks for it.
  void set(mlir::Value value, Place place) { places[value] = checked(value, place); }
  /// The value's place, found from the operation that makes it; unset where it has no batch.
  Place of(mlir::Value value);
  /// The place of a constant that follows a tensor's shape: every sample has the same there.
  Place of(const ConstantTensor &constant) const;
  Place of(const RepeatedTensor &repeated) const;
  /// The place of indices that grow with the sample's number, as arange(B) or multiples of it.
  Place ofSampleNumbers(const ConstantTensor &constant) const;
  /// States that a value has such integers.
  void setSampleNumbers(mlir::Value value, Place place) {
    set(value, place);
    sampleNumbers.insert(value);
  }
  /// Whether the value is computed from such integers.
  bool namesSamples(mlir::Value value) const;
  /// Why an operation that of() came through would mix samples; emptied. The first is kept.
  std::string takeFault() { return std::exchange(fault, {}); }
  void refuse(const std::string &reason) { fault = fault.empty() ? reason : fault; }

  /// Whether the file says all of this batch: it fixes it, or there is one sample.
  bool isAsExported() const { return exported ? *exported == batch : batch == 1; }
  /// What a message about shapes adds where the file fixes another batch or, with `isOpen`, none.
  std::string exportHint(bool isOpen) const;
  /// Another batch, at which shapes are computed again to see what depends on it.
  std::int64_t otherBatch() const { return batch > 2 ? batch - 1 : batch + 1; }
  /// The value's shape at that batch.
  nn::Dims dimsAtOtherBatch(mlir::Value value);

  std::int64_t batch = 0;
  std::optional<std::int64_t> exported;
  /// Whether samples may be added up, as a loss that the model computes does. What is computed from
  /// such a total is one itself, and no sample is computed from it.
  bool allowsTotals = false;

private:
  struct Operand {
    mlir::Value value;
    std::int64_t shift; ///< of its dimensions in the result's
  };

  Place followed(nn::DimsRef dims, nn::DimsRef atOtherBatch) const;
  Place find(mlir::Operation *op);
  Place mixed(const std::string &what);
  Place joined(llvm::ArrayRef<Operand> operands);
  bool isShared(const Operand &operand, const BatchPlace &place);
  Place along(mlir::Value x, nn::DimsRef axes, const std::string &what);
  Place ofMatmul(nn::MatmulOp op);
  Place ofEmbedding(nn::EmbeddingOp op);
  Place ofKnownRows(nn::EmbeddingOp op, const BatchPlace &table);
  Place ofGatherRows(nn::GatherRowsOp op);
  Place ofScatterRows(nn::ScatterRowsOp op);
  Place ofReduce(nn::ReduceOp op);
  Place ofReshape(nn::ReshapeOp op);
  Place ofSlice(nn::SliceOp op);
  Place ofConcat(nn::ConcatOp op);
  Place ofPad(nn::PadOp op);
  Place ofTranspose(nn::TransposeOp op);
  Place ofRecurrent(nn::RecurrentOp op, mlir::Value result);
  Place ofAxes(nn::AxesOpInterface op);
  Place ofCrossEntropy(nn::CrossEntropyOp op);
  bool beginsTotal(nn::ReduceOp op, const BatchPlace &place);
  Place checked(mlir::Value value, Place place);

  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseSet<mlir::Value> sampleNumbers;
  llvm::DenseSet<mlir::Value> totals; ///< over samples, and what is computed from such
  std::string fault;
};

} // namespace syncline::frontend
