// The messages of a step: which gradients travel together, how, and where they lie.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/sync/Sync.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace syncline::lower {

/// One gradient of a bucket and its parameter. Both spaces are laid out alike.
struct Member {
  nn::ParameterOp parameter;
  mlir::Value gradient; ///< this rank's; by factors, the one computed from what was gathered
  std::int64_t offset = 0, reserve = 0; ///< bytes, in the spaces of parameters and of gradients
  /// The operation that makes the gradient cannot write straight to its place: somebody else reads
  /// the value too, or no operation makes it.
  bool isCopied = false;
};

struct Bucket {
  mlir::Operation *message = nullptr; ///< sync.all_reduce or sync.all_gather
  cluster::Scheme scheme = cluster::Scheme::ring;
  std::int64_t number = 0, channel = 0;
  mlir::FloatAttr ready = {}, start = {}, end = {}; ///< predicted seconds
  std::vector<Member> members = {};
  std::int64_t offset = 0, extent = 0, bytes = 0;

  bool isGathered() const { return scheme == cluster::Scheme::factors; }
  /// Whether the message writes the parameters, so that there is no update.
  bool updatesItself() const { return scheme == cluster::Scheme::reduceScatter; }

  /// What is gathered, and into what; empty unless isGathered().
  mlir::ValueRange factors() const;
  mlir::ValueRange gathered() const;
};

struct Messages {
  std::vector<Bucket> buckets; ///< by number
  /// Operations that compute gradients from what a bucket gathered, with that bucket's number.
  llvm::DenseMap<mlir::Operation *, std::int64_t> rebuilders;
};

/// The step's messages; members placed one after another, aligned, buckets likewise. Fails where a
/// parameter has no update, or its update does not come from a message that names it.
mlir::FailureOr<Messages> collectMessages(nn::StepOp step);

} // namespace syncline::lower
