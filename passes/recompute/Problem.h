// The problem of what to recompute, as plain data: a step, cut into segments, and what is
// recomputed of each. Recomputation takes seconds and frees memory.
#pragma once

#include <cstdint>
#include <vector>

namespace syncline::recompute {

/// What is recomputed of a segment.
enum class Choice {
  keep,   ///< nothing
  light,  ///< all that is not heavy
  full,   ///< all
  joined, ///< all, as one block with the segment before it, whose results are not kept either
};

/// One operation of a step, in program order. Values are numbers.
struct StepOp {
  std::vector<int> operands, results;
  double seconds = 0;
  bool isBackward = false;
  bool isHeavy = false; ///< one of those that take most of the time
  bool isKept = false;  ///< computes the loss, or has a reader besides operations
  bool isFlat = false;  ///< its result may take the place of an operand that dies in it
};

struct Problem {
  std::vector<StepOp> ops;         ///< forward operations come before backward operations
  std::vector<std::int64_t> bytes; ///< by value; 0 for what does not lie in the arena
  /// The number of the first operation of each segment but the first, ascending. Segments consist
  /// of forward operations and cover all of them.
  std::vector<int> cuts;

  std::size_t segments() const { return cuts.size() + 1; }
};

/// What a step costs with some recomputation.
struct Outcome {
  std::int64_t bytes = 0; ///< the most that are alive at once; the arena is hardly larger
  double seconds = 0;     ///< of operations that are computed again
};

using Choices = std::vector<Choice>; ///< by segment

/// What the choices give, by the rules of repeatForward(). A choice `joined` where the segment
/// before keeps its results, or is light, is `full`. Linear in operations and uses, but for a sort.
/// Precondition: one choice for each segment.
Outcome outcomeOf(const Problem &problem, const Choices &choices);

} // namespace syncline::recompute
