// A step while it is built and after: tensors, prepared commands, the device's memory.
//
// Every tensor is dense row-major (NCHW), so that reading, writing, sums over ranks and factors
// need no conversion.
#pragma once

#include "runtime/core/ScratchPlan.h"
#include "runtime/core/StepTable.h"
#include "runtime/cuda/Device.h"
#include "runtime/cuda/DeviceMemory.h"

#include <array>
#include <functional>
#include <vector>

namespace syncline::cuda {

/// Bytes that one operation's libraries may use beside its operands. Algorithms that need more are
/// not chosen.
inline constexpr std::int64_t workspaceLimit = std::int64_t{512} << 20;

/// Enqueues work on the compute stream; throws Failure.
using Command = std::function<void()>;

/// A place in scratch memory, for one operation: its address is known once the step is complete.
struct Scratch {
  std::int64_t offset = 0, bytes = 0;
};

struct Program {
  /// Allocates the spaces, zeroed. Throws Failure.
  explicit Program(const ExecutableOptions &options);
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  ~Program();

  /// Notes that the table has taken a tensor.
  void declare(const StepTensor &) { isWritten.push_back(false); }
  std::byte *data(Tensor tensor) const;
  const DeviceMemory &space(Space space) const { return spaces[static_cast<int>(space)]; }

  Scratch reserveScratch(std::int64_t bytes) { return {scratchPlan.reserve(bytes), bytes}; }
  /// Starts the next operation: its scratch may overlay the last one's.
  void resetScratch() { scratchPlan.reset(); }
  /// Precondition: allocateScratch().
  template <typename T> T *at(const Scratch &place) const {
    return reinterpret_cast<T *>(scratch.data() + place.offset);
  }
  void allocateScratch();

  ExecutableOptions options;
  StepTable table;
  Device device;
  std::vector<bool> isWritten;                ///< by tensor: arena and gradients, so far
  std::vector<std::vector<Command>> commands; ///< by operation
  std::int64_t step = 0;                      ///< number of the step that runs
  float *loss = nullptr;                      ///< host memory that the device writes
  bool hasLoss = false;
  DeviceMemory scratch;

private:
  void allocateSpaces();

  std::array<DeviceMemory, spaceCount> spaces;
  ScratchPlan scratchPlan{256};
};

} // namespace syncline::cuda
