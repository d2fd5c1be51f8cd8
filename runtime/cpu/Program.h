// A step while it is built and after: tensors with their layouts, prepared commands, memory.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/core/HostMemory.h"
#include "runtime/core/ScratchPlan.h"
#include "runtime/core/StepTable.h"
#include "runtime/cpu/Layout.h"

#include <dnnl.hpp>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace syncline::cpu {

/// One primitive execution or one call of ours; an operation is a few of them in sequence.
struct Command {
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> arguments;
  std::function<void()> call; ///< when set, instead of the primitive
};

/// Where a tensor lies and how. Until its first use a tensor of the arena, the parameters, the
/// gradients or the state has no layout.
struct Placement {
  Layout layout;
  bool isLaidOut = false;
  bool isGathered = false; ///< other ranks write parts of it
  std::byte *data = nullptr;
};

struct Program {
  explicit Program(const ExecutableOptions &options);

  /// Keeps the place of a tensor that the table has just taken.
  void declare(const StepTensor &tensor);
  Placement &placement(Tensor tensor) { return placements[tensor.id]; }
  /// Gives the tensor (and its gradient or parameter) the wanted layout if that fits the bytes
  /// planned for it, otherwise the plain one. Precondition: it has none yet.
  void layOut(Tensor tensor, const Layout &wanted);
  /// The bytes a layout of the tensor may fill.
  std::int64_t capacity(Tensor tensor) const;

  /// A place in scratch memory, valid for the operation being prepared: offset in bytes.
  std::int64_t reserveScratch(std::int64_t bytes) { return scratchPlan.reserve(bytes); }
  /// A memory object over scratch; its address is set when scratch is allocated.
  dnnl::memory scratchMemory(const Layout &layout, std::int64_t offset);
  /// Where a memory object of scratchMemory() begins; nothing for any other.
  std::optional<std::int64_t> scratchOffset(const dnnl::memory &memory) const;
  /// Starts the next operation: its scratch may overlay the last one's.
  void resetScratch() { scratchPlan.reset(); }
  /// Allocates scratch and tells every memory object. False when the system refuses.
  bool allocateScratch();

  ExecutableOptions options;
  StepTable table;
  dnnl::engine engine;
  dnnl::stream stream;
  std::array<HostMemory, spaceCount> spaces;
  std::vector<Placement> placements;          ///< by tensor
  std::vector<std::vector<Command>> commands; ///< by operation
  std::int64_t step = 0;                      ///< number of the step that runs
  double loss;                                ///< NaN until an operation sets it
  bool skipsDropout = false;
  HostMemory scratch;

private:
  std::vector<std::pair<dnnl::memory, std::int64_t>> scratchMemories;
  ScratchPlan scratchPlan{64};
};

} // namespace syncline::cpu
