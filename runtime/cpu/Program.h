// A step during and after its building: tensors with their layouts, prepared commands, and memory.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/core/HostMemory.h"
#include "runtime/core/ScratchPlan.h"
#include "runtime/core/StepTable.h"
#include "runtime/core/UnwrittenMemory.h"
#include "runtime/cpu/Layout.h"

#include <dnnl.hpp>

#include <array>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace syncline::cpu {

/// One execution of a primitive, or one call of a loop. An operation is a sequence of a
/// few commands.
struct Command {
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> arguments;
  std::function<void()> call; ///< if set, it is called instead of the primitive
};

/// A tensor's memory and layout. A tensor of the arena, the parameters, the gradients or the state
/// has no layout before its first use.
struct Placement {
  Layout layout;
  bool isLaidOut = false;
  bool isGathered = false; ///< other ranks write parts of it
  bool isCarried = false;  ///< read before it is gathered, as the step before left it
  std::byte *data = nullptr;
};

struct Program {
  explicit Program(const core::ExecutableOptions &options);

  /// Adds the placement of the tensor that the table has just declared.
  void declare(const core::StepTensor &tensor);
  Placement &placement(Tensor tensor) { return placements[tensor.id]; }
  /// Gives the tensor, and its gradient or parameter, the wanted layout if that fits into the
  /// planned bytes, otherwise the plain layout. A tensor of f32 is stored as bf16 where the plan
  /// says so, or where that is wanted and it lies in the arena. Precondition: the tensor has no
  /// layout yet.
  void layOut(Tensor tensor, const Layout &wanted);
  /// Whether products and convolutions of f32 are computed in bf16.
  bool rounds() const { return options.precision == core::Precision::bf16; }
  /// The bytes that a layout of the tensor may fill.
  std::int64_t capacity(Tensor tensor) const;

  /// Reserves scratch memory for the operation being prepared and returns its offset in bytes.
  std::int64_t reserveScratch(std::int64_t bytes) { return scratchPlan.reserve(bytes); }
  /// A memory object in scratch memory. Its address is set when scratch memory is allocated.
  dnnl::memory scratchMemory(const Layout &layout, std::int64_t offset);
  /// The offset of a memory object made by scratchMemory(), or nothing for any other object.
  std::optional<std::int64_t> scratchOffset(const dnnl::memory &memory) const;
  /// Starts the next operation, whose scratch memory may overlay the last one's.
  void resetScratch() { scratchPlan.reset(); }
  /// Allocates scratch memory and sets the memory objects' addresses. Returns false when the
  /// system refuses.
  bool allocateScratch();
  /// Does what a check has asked for (runtime/core/UnwrittenMemory.h): memory that the step must
  /// write before it reads becomes NaN, scratch memory too.
  void fillUnwritten();

  core::ExecutableOptions options;
  core::StepTable table;
  dnnl::engine engine;
  dnnl::stream stream;
  std::array<core::HostMemory, core::spaceCount> spaces;
  std::vector<Placement> placements;          ///< by tensor
  std::vector<std::vector<Command>> commands; ///< by operation
  std::int64_t step = 0;                      ///< number of the running step
  double loss;                                ///< NaN until an operation sets it
  bool isEvaluation = false;                  ///< StepRunner::setEvaluation()
  core::HostMemory scratch;
  const Program *shared = nullptr; ///< whose parameters and gradients this step has, if any

private:
  /// Takes over the layout of the shared program's tensor of this name.
  void follow(const core::StepTensor &tensor, Placement &placement);
  /// The type in which a tensor is stored whose first user wants elements of type `wanted`.
  DataType storedType(const core::StepTensor &info, DataType wanted) const;

  std::vector<std::pair<dnnl::memory, std::int64_t>> scratchMemories;
  core::ScratchPlan scratchPlan{64};
  std::vector<core::SpaceRange> unwritten; ///< empty unless it is to be filled

public:
  double lossScale = 1;             ///< StepRunner::setLossScale()
  std::optional<double> lossWeight; ///< StepRunner::weighLoss()
};

} // namespace syncline::cpu
