// Sums of gradients over the forward and backward passes of one step.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace syncline::run {

/// Where a step has several passes, each pass overwrites the gradients of the pass before. This
/// keeps their sum, as large as the gradients themselves. Used by one thread.
class PassSums {
public:
  /// `passes`, at least 1, is the number of passes of a step.
  explicit PassSums(int passes) : passes(passes) {}

  /// Adds what an earlier pass has computed for the bucket.
  void add(int bucket, std::span<const float> gradients);
  /// Makes of the last pass's gradients the mean over all passes. Does nothing where no pass was
  /// added since the last call.
  void finish(int bucket, std::span<float> gradients);

private:
  struct Sum {
    std::vector<float> values;
    bool isOpen = false; ///< an earlier pass of the step is in it
  };
  int passes;
  std::map<int, Sum> sums; ///< by bucket
};

} // namespace syncline::run
