// The messages of a step: their members, their schemes, and the places of parameters and gradients.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/sync/Sync.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <vector>

namespace syncline::lower {

/// One gradient of a bucket and its parameter. The two spaces have one layout.
struct Member {
  nn::ParameterOp parameter;
  /// This rank's gradient; where factors travel, the gradient computed from the gathered factors.
  mlir::Value gradient;
  std::int64_t offset = 0, reserve = 0; ///< bytes, in both spaces
  /// Where an embedding's rows are added to the gradient once both have arrived: what the message
  /// leaves of the gradient, and the sum, in the same place. Null otherwise.
  mlir::Value arrived = {}, total = {};
  /// Whether the gradient must be copied to its place, since the value has another reader, or no
  /// operation makes it.
  bool isCopied = false;
};

struct Bucket {
  mlir::Operation *message = nullptr; ///< a sync.all_reduce or sync.all_gather
  cluster::Scheme scheme = cluster::Scheme::ring;
  std::int64_t number = 0, channel = 0;
  std::vector<Member> members = {}; ///< none where rows travel that are added to another's member
  std::int64_t offset = 0, extent = 0, bytes = 0; ///< its interval; its gradients' dense bytes
  /// Bytes of the first member before the interval, and of the last one behind it; they travel in
  /// other buckets.
  std::int64_t cutBefore = 0, cutBehind = 0;
  /// The last message that its gradients need, itself or one with rows that are added to them.
  std::int64_t completedBy = -1;
  /// Where it travels in halves: the place of its all-gather among all messages.
  std::optional<std::int64_t> gatherPlace = {};

  bool isGathered() const { return syncline::isGathered(scheme); }
  /// The part of a member's gradient that the bucket carries, 1 where it is not cut.
  double partOf(const Member &member) const;
  /// Whether the message writes the parameters, so that the bucket has no update.
  bool updatesItself() const { return scheme == cluster::Scheme::reduceScatter; }
  /// Whether it brings rows only, which are added to a gradient of another bucket.
  bool isRowsPart() const { return members.empty(); }

  /// One rank's factors, and all ranks' factors; empty unless isGathered().
  mlir::ValueRange factors() const;
  mlir::ValueRange gathered() const;
};

struct Messages {
  std::vector<Bucket> buckets; ///< ordered by number
  /// The operations that compute gradients from gathered factors, with the number of their bucket.
  /// A sum of two messages' parts of a gradient has that of the later one.
  llvm::DenseMap<mlir::Operation *, std::int64_t> rebuilders;
};

/// What a gradient's place holds before rows are added there: the gradient that they are added onto
/// (nn.embedding_backward), and so on from that one; last first. Empty for any other gradient. One
/// with another reader, or that no operation makes, lies elsewhere and is copied.
llvm::SmallVector<mlir::Value, 1> heldBefore(mlir::Value gradient);

/// Collects the step's messages and places buckets, and members inside them, one after another and
/// aligned. Buckets that share a gradient lie side by side in that gradient's order. Fails
/// where a parameter has no update, or where its update's gradient comes from no message that names
/// the parameter.
mlir::FailureOr<Messages> collectMessages(nn::StepOp step);

} // namespace syncline::lower
