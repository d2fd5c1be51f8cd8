// A step while it is built and after: tensors, prepared commands, the device's memory.
//
// A tensor gets its layout when the first operation that uses it is prepared: see Layout.h and
// Preparation.h. What is gathered is dense.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/core/ScratchPlan.h"
#include "runtime/core/StepTable.h"
#include "runtime/cuda/Device.h"
#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/Layout.h"

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace syncline::cuda {

/// Bytes that one operation's libraries may use beside its operands. Algorithms that need more are
/// not chosen.
inline constexpr std::int64_t workspaceLimit = std::int64_t{512} << 20;

/// Enqueues work on the compute stream; throws Failure.
using Command = std::function<void()>;

/// A place in memory beside the spaces, for one operation or, kept, for the step: its address is
/// known once the step is complete.
struct Scratch {
  std::int64_t offset = 0, bytes = 0;
  bool isKept = false;
};

/// Until its first use, a tensor of the arena, the parameters, the gradients or the state has no
/// layout.
struct Placement {
  Layout layout;
  bool isLaidOut = false;
  bool isWritten = false; ///< of the arena and the gradients, so far
};

/// A tensor that is read in another layout than its own, converted once a step.
struct KeptCopy {
  int tensor;
  Layout layout;
  Scratch place;
  bool isFresh; ///< made by an operation so far, of the values that the tensor has
};

struct Program {
  /// Allocates the spaces, zeroed, or notes that they do not fit. Throws Failure.
  explicit Program(const ExecutableOptions &options);
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  ~Program();

  /// Notes that the table has taken a tensor.
  void declare(const StepTensor &tensor);
  Placement &placement(Tensor tensor) { return placements[static_cast<std::size_t>(tensor.id)]; }
  /// Gives the tensor (and its gradient or parameter) as much of the wanted layout as it may have:
  /// results in the arena all of it, what is kept between steps the order. Precondition: it has
  /// none yet.
  void layOut(Tensor tensor, const Layout &wanted);
  /// The tensor's copy in this layout, for tensors that no operation of the arena overlays.
  KeptCopy &keep(Tensor tensor, const Layout &layout);
  /// Copies of the tensors in these bytes are out of date.
  void changed(Space space, std::int64_t offset, std::int64_t bytes);
  std::byte *data(Tensor tensor) const;
  const DeviceMemory &space(Space space) const { return spaces[static_cast<int>(space)]; }

  Scratch reserveScratch(std::int64_t bytes) { return {scratchPlan.reserve(bytes), bytes}; }
  /// Starts the next operation: its scratch may overlay the last one's.
  void resetScratch() { scratchPlan.reset(); }
  /// Throws Failure before allocateScratch().
  template <typename T> T *at(const Scratch &place) const {
    if (place.bytes > 0 && !scratch.data())
      throw Failure{ErrorKind::internal, "scratch is used before the step is complete"};
    return reinterpret_cast<T *>(scratch.data() + (place.isKept ? keptBegin : 0) + place.offset);
  }
  /// Ends the building. Throws the Failure that says what does not fit, the largest tensors too.
  void allocateScratch();
  /// Without it the step can be declared, so that the message can name its tensors, but not
  /// prepared.
  bool hasMemory() const { return !shortage; }
  /// Throws the Failure that says what is free on the device, where so many bytes are not.
  void expectRoom(const std::string &what, std::int64_t bytes) const;

  ExecutableOptions options;
  StepTable table;
  Device device;
  std::vector<Placement> placements;          ///< by tensor
  std::vector<std::vector<Command>> commands; ///< by operation
  std::int64_t *step = nullptr;               ///< the device's: number of the step that runs
  float *loss = nullptr;                      ///< host memory that the device writes
  bool hasLoss = false;
  std::int32_t *keptFlag = nullptr; ///< likewise: not 0 once an update has kept an element
  bool skipsDropout = false;
  DeviceMemory scratch;

private:
  void allocateSpaces();

  std::array<DeviceMemory, spaceCount> spaces;
  DeviceMemory stepNumber;
  std::optional<std::int64_t> shortage; ///< bytes that were free when the spaces did not fit
  ScratchPlan scratchPlan{256}, keptPlan{256};
  std::int64_t keptBegin = 0;
  std::vector<KeptCopy> kept;
};

} // namespace syncline::cuda
