// What each name of the graph stands for while it is imported.
#pragma once

#include "frontend/onnx/BatchLayout.h"
#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/Notes.h"
#include "frontend/onnx/StoredTensors.h"

#include "llvm/ADT/DenseMap.h"

namespace syncline::frontend {

/// What every element of a tensor of integers is at least and at most.
struct WholeBounds {
  std::int64_t least = 0, most = 0;
};

/// What a type of integers holds; unset for int32, int64 and others, which a step does not bound.
std::optional<WholeBounds> rangeOf(int type);

/// A name is a tensor of the step, a constant known at import, a stored tensor (initialiser or
/// generator node), or another name for one of these. Stored tensors and constants become
/// operations when a node computes with them.
///
/// Functions that can fail return null and leave the first reason in `status`.
class GraphValues {
public:
  /// `isStep`: tensors are those of a step, not of layers that are planned by their shapes.
  /// `shapesSuffice`: parameters may lack values.
  GraphValues(const ModelFile &file, const GraphIndex &index, mlir::OpBuilder &builder,
              StoredTensors &stored, Notes &notes, bool isStep, bool shapesSuffice)
      : file(file), index(index), builder(builder), stored(stored), notes(notes), isStep(isStep),
        shapesSuffice(shapesSuffice) {}

  Status status;
  /// Where tensors have the batch.
  BatchLayout layout;

  /// `isBatched`: the tensor is computed from the graph's input.
  void setTensor(const std::string &name, mlir::Value value, bool isBatched);
  void setConstant(const std::string &name, ConstantTensor constant);
  /// Few operators compute with it at import; for all others it is a tensor of the step.
  void setRepeated(const std::string &name, RepeatedTensor constant);
  void setStored(const std::string &name, StoredSource source);
  /// `of` must be set or an initialiser. `isIdentity`: an Identity makes the name, which may stand
  /// for a tensor of its own.
  void setAlias(const std::string &name, const std::string &of, bool isIdentity);

  /// The name as a tensor of the step.
  mlir::Value tensor(const std::string &name);
  /// The name as a tensor of the step in floating point, whichever numbers it has in the file: its
  /// integers are those of an input or constant that holds them as f32. Null without an error where
  /// there is no such tensor.
  mlir::Value real(const std::string &name);
  /// The name, whose values are known, as a tensor of integers of `type`.
  mlir::Value knownAs(const std::string &name, int type);
  /// States that the name, a tensor in floating point, has integers or truth values of `type` in
  /// the file, and their bounds where these are known.
  void setWhole(const std::string &name, int type, std::optional<WholeBounds> bounds = {});
  /// The type in the file of a name of integers or truth values. A Cast between int32 and int64 may
  /// not show.
  int wholeType(const std::string &name);
  /// Whether the name has integers or truth values in the file.
  bool isWhole(const std::string &name);
  /// The bounds of the name's integers, within what f32 holds; unset where they are not known.
  std::optional<WholeBounds> boundsOf(const std::string &name);
  /// The name as a batch normalisation's running statistic.
  mlir::Value state(const std::string &name);
  /// The name's shape and element type, found without making an operation; null when there is no
  /// such name or its values are of no type that tensors of the step have.
  mlir::RankedTensorType typeOf(const std::string &name);
  /// The name's values at import, trained or not; null without an error when they are not known.
  const ConstantTensor *constant(const std::string &name);
  /// The name's values where they repeat; null for all others.
  const RepeatedTensor *repeated(const std::string &name);
  /// Whether nodes on this name can be computed at import: its values are known and never trained.
  bool isKnown(const std::string &name);
  bool isBatched(const std::string &name) const;
  /// Whether the name, or what it is another name for, is a stored tensor.
  bool isStored(const std::string &name);
  /// Whether a node that takes numbers as settings, such as exponents and bounds, would take a
  /// parameter as one: a stored tensor that is trained. A scalar that the exporter does not call a
  /// parameter is a number, and a note says so.
  bool isParameter(const std::string &name);
  /// What the name is another name for; empty where it is none.
  std::string aliasOf(const std::string &name) const;
  /// The last name behind the name's aliases; the name itself where it is none.
  const std::string &rootOf(const std::string &name) const;
  /// Whether a node computes the name: it is no other name and no value known at import.
  bool isComputed(const std::string &name) const;

private:
  struct Entry {
    mlir::Value tensor;
    std::shared_ptr<ConstantTensor> constant;
    std::shared_ptr<StoredSource> stored;
    std::shared_ptr<RepeatedTensor> repeated;
    std::string alias; ///< not empty: another name for this one
    std::string root;  ///< of an alias: the last name behind it
    /// The first name, from an alias on, that may stand for a tensor of its own: that of an
    /// Identity, or else the root.
    std::string holder;
    std::optional<bool> isUniform; ///< whether a stored tensor's elements are known to be equal
    bool isConstant = false; ///< a stored tensor whose values nodes are computed from at import
    bool isBatched = false;
    int wholeType = 0; ///< not 0: holds integers of this type, as f32
    std::optional<WholeBounds> bounds;
  };

  Entry *find(const std::string &name);
  Entry *resolve(std::string &name);
  mlir::Value storedTensor(const std::string &name, const std::string &root, Entry &entry);
  mlir::Value constantTensor(const std::string &name, const ConstantTensor &constant);
  mlir::Value repeat(const std::string &name, mlir::Value values, const RepeatedTensor &repeated);
  mlir::Value infiniteTensor(const std::string &name, const ConstantTensor &constant);
  mlir::Value realOf(mlir::Value integers);
  void fail(const std::string &message);
  bool fitsStep(const std::string &what, int type);

  const ModelFile &file;
  const GraphIndex &index;
  mlir::OpBuilder &builder;
  StoredTensors &stored;
  Notes &notes;
  const bool isStep, shapesSuffice;
  llvm::StringMap<Entry> entries;
  llvm::StringSet<> numbers;                      ///< stored tensors of which a note says so
  llvm::DenseMap<mlir::Value, mlir::Value> reals; ///< by values of integers
};

} // namespace syncline::frontend
