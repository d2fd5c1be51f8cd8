// Plays a step with recomputation, and adds up what is alive.
#include "passes/recompute/Problem.h"

#include "passes/lower/Placement.h"

namespace syncline::recompute {

namespace {

class Play {
public:
  Play(const Problem &problem, const Choices &choices)
      : problem(problem), blockOf(problem.ops.size(), -1), isRepeatable(problem.ops.size()),
        producer(problem.bytes.size(), -1), again(problem.bytes.size(), -1),
        buffer(problem.bytes.size(), -1) {
    for (std::size_t op = 0; op < problem.ops.size(); ++op)
      for (const int value : problem.ops[op].results)
        producer[value] = static_cast<int>(op);
    formBlocks(choices);
  }

  Outcome run() {
    for (std::size_t op = 0; op < problem.ops.size(); ++op) {
      const StepOp &of = problem.ops[op];
      std::vector<int> operands = of.operands;
      if (of.isBackward)
        for (int &operand : operands)
          operand = repeated(operand);
      execute(of, operands, of.results);
    }
    sharePlaces();
    return {lower::liveBytes(buffers), seconds};
  }

private:
  /// Decides which operations can be repeated: those that only their own block reads in the
  /// forward pass.
  void formBlocks(const Choices &choices) {
    std::size_t segment = 0;
    int block = 0;
    for (std::size_t op = 0; op < problem.ops.size() && !problem.ops[op].isBackward; ++op) {
      while (segment < problem.cuts.size() && static_cast<int>(op) == problem.cuts[segment]) {
        ++segment;
        const bool continues =
            choices[segment] == Choice::joined &&
            (choices[segment - 1] == Choice::full || choices[segment - 1] == Choice::joined);
        block += continues ? 0 : 1;
      }
      blockOf[op] = block;
      const Choice choice = choices[segment];
      isRepeatable[op] = !problem.ops[op].isKept && choice != Choice::keep &&
                         !(choice == Choice::light && problem.ops[op].isHeavy);
    }
    for (std::size_t op = 0; op < problem.ops.size() && !problem.ops[op].isBackward; ++op)
      for (const int operand : problem.ops[op].operands)
        if (const int source = producer[operand]; source >= 0 && blockOf[source] != blockOf[op])
          isRepeatable[source] = false;
  }

  /// The value that a backward operation reads in place of `value`.
  int repeated(int value) {
    const int source = producer[value];
    if (source < 0 || !isRepeatable[source])
      return value;
    if (again[value] < 0) {
      const StepOp &of = problem.ops[source];
      std::vector<int> operands = of.operands, results = of.results;
      for (int &operand : operands)
        operand = repeated(operand);
      for (int &result : results)
        result = again[result] = newValue(result);
      execute(of, operands, results);
      seconds += of.seconds;
    }
    return again[value];
  }

  int newValue(int like) {
    original.push_back(like);
    buffer.push_back(-1);
    return static_cast<int>(problem.bytes.size() + original.size()) - 1;
  }

  std::int64_t bytesOf(int value) const {
    const auto known = static_cast<int>(problem.bytes.size());
    return problem.bytes[value < known ? value : original[value - known]];
  }

  void execute(const StepOp &op, const std::vector<int> &operands,
               const std::vector<int> &results) {
    for (const int operand : operands)
      if (buffer[operand] >= 0)
        buffers[buffer[operand]].last = now;
    for (const int result : results)
      if (bytesOf(result) > 0) {
        buffer[result] = static_cast<int>(buffers.size());
        buffers.push_back({now, now, bytesOf(result)});
        if (op.isFlat)
          loops.push_back({buffer[result], operands});
      }
    ++now;
  }

  /// Where a flat loop's result takes the place of an operand, the operand is alive up to the loop
  /// only, so that the place counts once.
  void sharePlaces() {
    for (const Loop &loop : loops)
      for (const int operand : loop.operands) {
        if (buffer[operand] < 0)
          continue;
        lower::Buffer &from = buffers[buffer[operand]];
        const lower::Buffer &to = buffers[loop.result];
        if (from.last != to.first || from.bytes != to.bytes || from.first >= to.first)
          continue;
        --from.last;
        break;
      }
  }

  const Problem &problem;
  std::vector<int> blockOf;
  std::vector<bool> isRepeatable;
  std::vector<int> producer, again, buffer, original;
  std::vector<lower::Buffer> buffers;
  std::int64_t now = 0;
  double seconds = 0;

  struct Loop {
    int result;
    std::vector<int> operands;
  };
  std::vector<Loop> loops;
};

} // namespace

Outcome outcomeOf(const Problem &problem, const Choices &choices) {
  return Play(problem, choices).run();
}

} // namespace syncline::recompute
