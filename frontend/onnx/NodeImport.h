// The node that is being imported: its attributes and operands as the file has them, and the
// operations it becomes.
#pragma once

#include "frontend/onnx/GraphValues.h"
#include "frontend/onnx/ImportOptions.h"
#include "frontend/onnx/ValueTypes.h"
#include "ir/Try.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <map>

namespace onnx {
class AttributeProto;
class NodeProto;
} // namespace onnx

namespace syncline::frontend {

/// Copies that a node makes of what samples share, one for each sample of the file's batch.
struct SharedCopies {
  std::string what;    ///< says so in a message
  bool isFirst = true; ///< in the first dimension, as a batch is
};

/// How far a Loop has come whose bodies are imported one after the other.
struct LoopProgress {
  std::int64_t done = 0, most = 0;
  std::string condition;                         ///< the name of whether it goes on; "": it does
  std::vector<std::string> carried;              ///< names of the values of the next iteration
  std::vector<std::vector<std::string>> scanned; ///< of each result by iteration: its values' names
  llvm::StringMap<std::string> constants;        ///< of the body: what they are called outside
};

/// An element of a sequence that is known at import: a tensor, or a part of one along an axis.
struct SequenceItem {
  std::string name;
  std::int64_t axis = 0, start = 0;
  std::int64_t size = -1;  ///< not negative: it is a part
  bool isSqueezed = false; ///< without the axis
};

/// What all nodes of one import share.
struct ImportState {
  ModelFile &file;
  GraphIndex &index;
  const ImportOptions &options;
  mlir::OpBuilder &builder;
  GraphValues &values;
  Notes &notes;
  std::int64_t batch = 0;
  std::optional<std::int64_t> exportedBatch; ///< the input's first dimension in the file
  const std::map<std::string, std::int64_t> &dimensions; ///< symbolic ones, with their sizes
  bool isStep = true; ///< the nodes become a step that is run, not only layers that are planned
  /// Softmax → where it is NaN, since its mask is infinite no more once that is asked.
  llvm::DenseMap<mlir::Value, mlir::Value> whereNan{};
  /// nn.broadcast → the copies that it makes, until they are joined with samples.
  llvm::MapVector<mlir::Operation *, SharedCopies> copies{};
  int current = 0; ///< the place in the graph of the node that is being imported
  /// The nodes that take the place of the current one in the order, where it runs a body.
  std::optional<std::vector<int>> replacement{};
  std::map<int, LoopProgress> loops{};                    ///< by the node's place
  llvm::StringMap<std::vector<SequenceItem>> sequences{}; ///< by name
  llvm::StringMap<std::vector<int>> readers{}; ///< name → nodes, once that is asked for noise
};

/// Errors are sticky and live in `state.values.status`: an attribute of the wrong type reads as its
/// fallback and the import ends after the node, so importers check only what they compute.
class NodeImport {
public:
  NodeImport(ImportState &state, const onnx::NodeProto &proto, const std::string &layer);

  const std::string &op() const;
  std::int64_t opset() const { return state.file.opset; }
  std::string describe() const;
  /// The node's name among layers, which no other node has.
  const std::string &layerName() const { return layer; }
  /// Records "node ...: MESSAGE" and fails.
  mlir::LogicalResult error(const llvm::Twine &message);
  bool failed() const { return !state.values.status; }

  // Attributes.
  const onnx::AttributeProto *attribute(llvm::StringRef name) const;
  std::int64_t integer(llvm::StringRef name, std::int64_t fallback);
  /// The double that a decimal literal of the attribute's 32 bits reads as: 0.1, not
  /// 0.100000001490116, which is what the exporter's user wrote.
  double real(llvm::StringRef name, double fallback);
  std::string text(llvm::StringRef name, llvm::StringRef fallback);
  /// Unset when there is no such attribute. Values beyond ±2³¹ are an error, except that those of
  /// slices (`clamp`) are pulled inside.
  std::optional<nn::Dims> integers(llvm::StringRef name, bool clamp = false);

  // Operands. Operands that the operator table calls tensors are present when the importer runs.
  unsigned inputCount() const;
  bool hasInput(unsigned i) const;
  mlir::Value tensor(unsigned i);
  /// Has operand `i` stand for another tensor.
  void bind(unsigned i, mlir::Value value) { bound[i] = value; }
  /// Null when the node has no such operand.
  mlir::Value optionalTensor(unsigned i) { return hasInput(i) ? tensor(i) : mlir::Value(); }
  mlir::Value runningStatistic(unsigned i);
  nn::DimsRef dims(unsigned i);
  const ConstantTensor *constant(unsigned i);
  bool isKnown(unsigned i) const;
  bool isBatched(unsigned i) const;
  /// A list that is attribute `name` or, in newer opsets, constant operand `i`. Unset when the node
  /// has neither; an error when the operand is not constant.
  std::optional<nn::Dims> list(llvm::StringRef name, unsigned i, bool clamp = false);
  /// A number that is attribute `name` or, in newer opsets, constant operand `i`. A parameter there
  /// is an error.
  std::optional<double> number(llvm::StringRef name, unsigned i);
  /// `axis` counted from the front, checked against [0, rank).
  mlir::FailureOr<std::int64_t> axis(std::int64_t axis, size_t rank);
  mlir::FailureOr<nn::Dims> axes(nn::DimsRef axes, size_t rank);

  // Results.
  unsigned outputCount() const;
  /// Whether anything needed reads result `i`.
  bool isUsed(unsigned i) const;
  /// How often result or operand `name` is read.
  int uses(const std::string &name) const;
  mlir::LogicalResult define(mlir::Value value, unsigned i = 0);
  mlir::LogicalResult defineConstant(ConstantTensor constant, unsigned i = 0);
  mlir::LogicalResult defineRepeated(RepeatedTensor constant);
  mlir::LogicalResult defineStored(StoredSource source);
  mlir::LogicalResult defineAlias(unsigned input = 0);
  const std::string &inputName(unsigned i) const;

  /// The tensor type, an error when the shape could not be computed or is out of bounds.
  mlir::FailureOr<mlir::RankedTensorType> type(llvm::Expected<nn::Dims> dims, mlir::Type element);
  /// Like `type`, with the element type of `like`.
  mlir::FailureOr<mlir::RankedTensorType> type(llvm::Expected<nn::Dims> dims, mlir::Value like);

  /// Appends an operation to the step, marked with the node's layer.
  template <typename Op, typename... Args> Op create(Args &&...args) {
    auto op = state.builder.create<Op>(location(), std::forward<Args>(args)...);
    op->setAttr(nn::layerAttr, state.builder.getStringAttr(layer));
    return op;
  }
  /// nn.reshape, or the value itself when it has that shape.
  mlir::Value reshape(mlir::Value x, nn::DimsRef dims);
  /// A scalar constant of `like`'s element type.
  mlir::Value scalar(double value, mlir::Value like);

  ImportState &state;
  const onnx::NodeProto &proto;
  /// Whether constants are read as they are at BatchLayout::otherBatch.
  bool readsOtherBatch = false;

private:
  mlir::LogicalResult checkSamples(mlir::Value value);
  mlir::Location location();
  bool fits(nn::Dims &values, llvm::StringRef what, bool clamp);
  const std::string &layer;
  llvm::SmallDenseMap<unsigned, mlir::Value, 1> bound; ///< operands that stand for other tensors
};

/// The double that the shortest decimal of a 32-bit number reads as.
double shortestDecimal(float number);

/// A number in messages.
std::string decimal(double value);

} // namespace syncline::frontend
