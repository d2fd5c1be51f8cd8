// The messages of a step: which gradients travel together and where they lie.
#pragma once

#include "ir/nn/NN.h"
#include "ir/sync/Sync.h"

#include <vector>

namespace syncline::lower {

/// One gradient of a bucket and its parameter. Both spaces are laid out alike.
struct Member {
  nn::ParameterOp parameter;
  mlir::Value gradient;
  std::int64_t offset = 0, reserve = 0; ///< bytes, in the spaces of parameters and of gradients
  /// The operation that makes the gradient cannot write straight to its place: somebody else reads
  /// the value too, or no operation makes it.
  bool isCopied = false;
};

struct Bucket {
  sync::AllReduceOp message;
  std::vector<Member> members;
  std::int64_t offset = 0, extent = 0, bytes = 0;
};

/// The step's buckets by number, members placed one after another, aligned, buckets likewise.
/// Fails where a parameter has no update, or its update does not come from a message that names it.
mlir::FailureOr<std::vector<Bucket>> collectBuckets(nn::StepOp step);

} // namespace syncline::lower
