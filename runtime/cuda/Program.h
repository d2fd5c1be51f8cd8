// A step during and after its building: tensors, prepared commands, and device memory.
//
// A tensor gets its layout when the first operation that uses it is prepared; see Layout.h and
// Preparation.h. Gathered tensors are dense.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/core/ScratchPlan.h"
#include "runtime/core/StepTable.h"
#include "runtime/core/UnwrittenMemory.h"
#include "runtime/cuda/Device.h"
#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/Layout.h"
#include "runtime/cuda/RoundedWeights.h"
#include "syncline/GpuMemory.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace syncline::cuda {

class ConvolutionEngines;
struct ConvolutionSums;
struct GraphListing;
struct NormThenSum;
struct SumThenNorm;

/// What plans count beside tensors.
inline constexpr std::int64_t workspaceLimit = gpuWorkspace, headroom = gpuHeadroom;

/// Enqueues work on the compute stream; throws Failure.
using Command = std::function<void()>;

/// How long a place beside the spaces keeps what was written: one operation, the step, or, with
/// copies of weights, the run.
enum class Room { operation, step, weights };

/// A place in memory beside the spaces. Its address is known once the step is complete.
struct Scratch {
  std::int64_t offset = 0, bytes = 0;
  Room room = Room::operation;
};

/// A tensor's memory and layout. A tensor of the arena, the parameters, the gradients or the state
/// has no layout before its first use.
struct Placement {
  Layout layout;
  bool isLaidOut = false;
  bool isWritten = false; ///< whether an operation has written it; for arena and gradients
  std::shared_ptr<NormThenSum> norm{};     ///< set if a norm that sums may join makes the tensor
  std::shared_ptr<ConvolutionSums> sums{}; ///< set if a convolution makes it that may add it up
};

/// A copy of a tensor in another layout, made once in each step. Copies of weights in bf16 are
/// others (RoundedWeights.h).
struct KeptCopy {
  int tensor;
  Layout layout;
  Scratch place;
  bool isFresh; ///< an earlier operation has made it from the tensor's present values
};

struct Program {
  /// Allocates the spaces, zeroed, or records that memory is short. Throws Failure.
  explicit Program(const core::ExecutableOptions &options);
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  ~Program();

  /// Adds the placement of the tensor that the table has just declared.
  void declare(const core::StepTensor &tensor);
  Placement &placement(Tensor tensor) { return placements[static_cast<std::size_t>(tensor.id)]; }
  /// Gives the tensor, and its gradient or parameter, the wanted layout. Tensors outside the arena
  /// adopt the order only and keep their type; a tensor that the plan rounds is bf16.
  /// Precondition: the tensor has no layout yet.
  void layOut(Tensor tensor, const Layout &wanted);
  /// The tensor's copy in this layout. Precondition: the tensor is not in the arena, where others
  /// would overlay it.
  KeptCopy &keep(Tensor tensor, const Layout &layout);
  /// The place of a parameter's copy in bf16.
  Scratch roundedPlace(Tensor tensor) const;
  /// States that the tensors in these bytes change, so that their copies are out of date.
  void changed(Space space, std::int64_t offset, std::int64_t bytes);
  std::byte *data(Tensor tensor) const;
  const DeviceMemory &space(Space space) const { return spaces[static_cast<int>(space)]; }

  Scratch reserveScratch(std::int64_t bytes) { return {scratchPlan.reserve(bytes), bytes}; }
  /// Memory for the whole step.
  Scratch reserveKept(std::int64_t bytes) { return {keptPlan.reserve(bytes), bytes, Room::step}; }
  /// Starts the next operation, whose scratch memory may overlay the last one's.
  void resetScratch() { scratchPlan.reset(); }
  /// Throws Failure before allocateScratch().
  template <typename T> T *at(const Scratch &place) const {
    if (place.bytes > 0 && !scratch.data())
      throw Failure{ErrorKind::internal, "scratch is used before the step is complete"};
    return reinterpret_cast<T *>(scratch.data() + begins[static_cast<std::size_t>(place.room)] +
                                 place.offset);
  }
  /// States that an engine needs so much workspace. Convolutions share it, since they run one after
  /// the other.
  void expectWorkspace(std::int64_t bytes) { expected = std::max(expected, bytes); }
  /// Makes the workspace at least so large; waits for the compute stream where it has to grow.
  /// False where memory is short. Throws Failure while a step is captured, whose workspace must
  /// stay where it is.
  bool growWorkspace(std::int64_t bytes);
  /// Makes the workspace as large as the best engines need, which may be smaller.
  void fitWorkspace();

  /// Ends the building and allocates scratch memory and the workspace. Throws a Failure that lists
  /// the sizes and the largest tensors when memory is short.
  void allocateScratch();
  /// Device memory of columnCounters counters (BatchNormKernels.h), which are 0 between operations.
  std::uint32_t *columnCounters() const {
    return reinterpret_cast<std::uint32_t *>(counters.data());
  }
  /// Whether the spaces were allocated. Without them the step can be declared, so that the error
  /// can name its tensors, but not prepared.
  bool hasMemory() const { return !shortage; }
  /// Enqueues what a check has asked for (runtime/core/UnwrittenMemory.h): memory that the step
  /// must write before it reads becomes NaN, scratch memory too. Throws Failure.
  void fillUnwritten() const;
  /// Throws a Failure that states the free memory when the device has less than `bytes` bytes free
  /// beside the headroom.
  void expectRoom(const std::string &what, std::int64_t bytes) const;

  core::ExecutableOptions options;
  core::StepTable table;
  Device device;
  std::vector<Placement> placements;          ///< by tensor
  std::vector<std::vector<Command>> commands; ///< by operation
  std::int64_t *step = nullptr;               ///< device memory with the number of the running step
  float *loss = nullptr;                      ///< host memory that the device writes
  bool hasLoss = false;
  /// Host memory that the device writes: not 0 once an update has kept an element.
  std::int32_t *keptFlag = nullptr;
  RoundedWeights weights{*this};
  bool isEvaluation = false;        ///< StepRunner::setEvaluation()
  double lossScale = 1;             ///< StepRunner::setLossScale()
  std::optional<double> lossWeight; ///< StepRunner::weighLoss()
  DeviceMemory scratch, workspace;
  std::vector<std::shared_ptr<ConvolutionEngines>> convolutions; ///< in the step's order
  /// What cuDNN's graph interface lists for a convolution, by what tells convolutions apart. Equal
  /// ones share the plans, of which some are compiled.
  std::map<std::string, std::shared_ptr<GraphListing>> graphListings;
  /// What later operations may join (NormSums.h): norms whose operands are still there, in the
  /// step's order, and the last sum of gradients.
  std::vector<std::shared_ptr<NormThenSum>> openNorms;
  std::shared_ptr<SumThenNorm> sumInFront;

private:
  void allocateSpaces();

  std::array<DeviceMemory, core::spaceCount> spaces;
  DeviceMemory stepNumber, counters;
  std::optional<std::int64_t> shortage; ///< bytes that were free when the spaces did not fit
  core::ScratchPlan scratchPlan{256}, keptPlan{256};
  std::array<std::int64_t, 3> begins{}; ///< of the rooms in scratch memory
  std::int64_t passing = 0;             ///< bytes of scratch memory before copies of weights
  std::int64_t expected = 0;            ///< bytes of workspace
  std::vector<KeptCopy> kept;
  std::vector<core::SpaceRange> unwritten; ///< empty unless it is to be filled
};

} // namespace syncline::cuda
