// A training step prepared by a compute backend: what the training loop drives, whatever the
// device.
//
// Life: a backend's factory allocates the spaces and gives an Executable; generated code describes
// the step to builder(); finish() reports the first error of the building; then the loop writes the
// initial values and, for each step, fills input and target and runs operations 0..n-1 in order:
//
//     executable->beginStep(step);
//     for (i : operations()) switch (operations()[i].kind) {
//       compute, update: executable->run(i);
//       issue:           hand space(gradients)[bucket] to a channel;
//       gather:          executable->run(i), hand operations()[i].gathered to a channel;
//       wait:            channel->wait(bucket);
//     }
//     executable->synchronize();
//
// A device may have the step captured once, between beginCapture() and endCapture(), and replayed.
//
// A bucket that travels by "reduce-scatter" is updated on the way: the channel sums over ranks,
// calls updateShard() for the part that takeShard() made this rank's, and gathers the parameters.
//
// A tensor's bytes in a space are in whatever layout the backend chose; elementwise work (sums over
// ranks, the optimizer) may run on the raw bytes of a bucket when all ranks have one
// layoutFingerprint(). Everything else goes through read() and write(), which speak dense
// row-major.
//
// One thread uses an Executable at a time. Collectives may work on a bucket's interval from another
// thread between its `issue` and the return of its `wait`.
#pragma once

#include "syncline/Scheme.h"
#include "syncline/Status.h"
#include "syncline/Step.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace syncline {

inline constexpr int spaceCount = 6; ///< values of Space

/// Bytes of each space, as plan.json's `memory` says; input and target: the dense bytes of their
/// tensors.
struct SpaceSizes {
  std::int64_t input = 0, target = 0, parameters = 0, gradients = 0, state = 0, arena = 0;
  std::int64_t of(Space space) const;
};

/// How products and convolutions of f32 are computed where a device has faster units for less.
enum class Precision {
  fp32, ///< with all bits of f32
  tf32, ///< factors rounded to 10 bits of mantissa where the device has such units
  bf16, ///< factors in bfloat16, sums in f32; weights, gradients and losses stay f32
};

struct ExecutableOptions {
  SpaceSizes sizes;
  int threads = 1;        ///< compute threads of this rank, at least 1
  std::uint64_t seed = 0; ///< of random operations such as dropout
  int rank = 0;
  int ranks = 1;  ///< gradients are sums over so many ranks; an update divides by it
  int device = 0; ///< which of this machine's accelerators; nothing to the CPU backend
  Precision precision = Precision::fp32; ///< likewise
};

enum class OperationKind {
  compute, ///< run() does it
  issue,   ///< the loop's: hand the bucket to its channel
  gather,  ///< run() puts this rank's factors into their places; then the loop's: as issue
  wait,    ///< the loop's: block until the bucket's collective is done
  update,  ///< run() applies the optimizer to the bucket
};

/// One tensor that an all-gather completes, in the device's memory: the ranks' parts one behind the
/// other in rank order, all equally long and laid out alike.
struct GatherPart {
  void *data = nullptr;
  std::int64_t bytes = 0; ///< of each rank
  ElementType type = ElementType::f32;
};

struct OperationInfo {
  std::string name;  ///< the StepBuilder method, such as "convBackwardData"
  std::string layer; ///< as in the model; empty for issue, gather, wait and update
  std::string phase; ///< "forward", "backward", "update"
  OperationKind kind = OperationKind::compute;
  int bucket = -1;            ///< of issue, gather, wait, update
  std::string implementation; ///< which kernel does it, for traces: "jit:avx512_core", "pointwise"
  int reorders = 0;           ///< operands whose layout is converted each time it runs
  /// Indices into tensors() of what it reads and writes.
  std::vector<int> operands, results;
  std::vector<GatherPart> gathered; ///< of gather; this rank's parts are in place after run()
};

/// BucketInfo with its scheme parsed.
struct Bucket {
  int id = -1;
  int channel = 0;
  Scheme scheme = Scheme::ring;
  std::int64_t offset = 0, extent = 0; ///< bytes, in Space::gradients and Space::parameters alike
  double start = 0, end = 0;           ///< predicted seconds from the step's beginning
};

/// TensorInfo with its name owned.
struct StepTensor {
  std::string name;
  Space space = Space::arena;
  ElementType type = ElementType::f32;
  Shape shape;
  std::int64_t offset = 0, reserved = 0;
};

/// A stretch of a space, in the device's memory.
struct Interval {
  void *data = nullptr;
  std::int64_t bytes = 0;
};

/// Stochastic gradient descent as PyTorch's torch.optim.SGD (dampening 0): g ← gradient/ranks +
/// weightDecay·w; v ← momentum·v + g; w ← w - rate·(nesterov ? g + momentum·v : momentum ? v : g).
struct SgdOptions {
  double rate = 0.01;
  double momentum = 0;
  double weightDecay = 0;
  bool nesterov = false;
  /// An element that would not be finite keeps its value and its velocity, and metNonFinite() says
  /// so.
  bool keepsFinite = false;
};

class Executable {
public:
  virtual ~Executable() = default;

  /// What generated code talks to. Valid as long as the executable; of no use after finish().
  virtual StepBuilder &builder() = 0;
  /// Ends the building: the first error (badInput: a type, shape or layout that the backend cannot
  /// do; internal: the backend broke), or memory for scratch is allocated and the step can run.
  virtual Status finish() = 0;

  /// In issue order.
  virtual std::span<const OperationInfo> operations() const = 0;
  virtual std::span<const Bucket> buckets() const = 0;
  /// In order of declaration.
  virtual std::span<const StepTensor> tensors() const = 0;
  /// Index into tensors(), or -1. Names are unique within a space.
  virtual int find(Space space, std::string_view name) const = 0;

  /// The whole space. Precondition of use by other threads: see the file's head.
  virtual Interval space(Space space) = 0;
  /// Copies a tensor from or to dense row-major host memory, whatever its layout; bytes must be the
  /// dense size. Waits for the device. Not for arena tensors while a step runs: they share memory.
  virtual Status read(int tensor, std::span<std::byte> dense) = 0;
  virtual Status write(int tensor, std::span<const std::byte> dense) = 0;
  /// As read and write, of a parameter's velocity (index of the parameter). badInput without
  /// momentum and, on several ranks, for a parameter of a bucket by "reduce-scatter": no rank has
  /// all of it.
  virtual Status readVelocity(int parameter, std::span<std::byte> dense) = 0;
  virtual Status writeVelocity(int parameter, std::span<const std::byte> dense) = 0;

  /// Chooses the optimizer; may be called between steps (a new rate). Velocity starts at 0.
  virtual Status setOptimizer(const SgdOptions &options) = 0;

  /// Says once, before the first step, which bytes of a bucket by "reduce-scatter" this rank
  /// updates: [begin, begin + bytes) of its interval, whole f32 elements. Velocity exists for these
  /// only.
  virtual Status takeShard(int bucket, std::int64_t begin, std::int64_t bytes) = 0;
  /// The optimizer over that part: gradients there are sums over all ranks. From any one thread
  /// between the bucket's `issue` and the return of its `wait`, while another runs operations.
  virtual Status updateShard(int bucket) = 0;

  /// The step's number from 0: seeds random operations. One thread runs the step until
  /// synchronize().
  virtual void beginStep(std::int64_t step) = 0;
  /// Runs operation i (compute, gather or update); on a device, enqueues it. issue and wait do
  /// nothing.
  virtual Status run(int operation) = 0;
  /// Returns when everything run so far has been computed, and the messages that channels of this
  /// backend carry for it are done. Errors: the device's, or peerLost where messages stand still.
  virtual Status synchronize() = 0;

  /// Notes when all that was run so far is done, without waiting for it: place 0 to
  /// operations().size().
  virtual Status mark(int place) = 0;
  /// After synchronize(): seconds from the mark at place 0 to each place, marked in this step.
  virtual Result<std::vector<double>> marks() = 0;

  /// Whether a step can be captured: the calls between beginCapture() and endCapture(), channels'
  /// of this backend included, are noted instead of carried out, and replay() carries them out
  /// again, as often as asked. Otherwise the calls are errors. input, target, the step's number
  /// and the loss are each replay's own.
  virtual bool canCapture() const { return false; }
  /// Whether replay() has a step to replay: one was captured, and setOptimizer() and takeShard()
  /// have not been called since.
  virtual bool isCaptured() const { return false; }
  virtual Status beginCapture();
  /// After an error in between, too: capturing has ended when it returns.
  virtual Status endCapture();
  virtual Status replay();
  /// The step's loss over this rank's batch; waits for the device. NaN when the step names none.
  virtual double loss() = 0;

  /// Whether updates since the last call kept an element for SgdOptions::keepsFinite; waits for the
  /// device. Not while a channel may update.
  virtual bool metNonFinite() { return false; }
  /// Whether dropout passes everything on as it is, as in inference. Not while a step runs.
  virtual void skipDropout(bool) {}

  /// Equal on two ranks exactly when what is exchanged between ranks, parameters, gradients and
  /// gathered factors, has the same layouts.
  virtual std::string layoutFingerprint() const = 0;
  /// Bytes held beside the spaces: scratch and velocity.
  virtual std::int64_t extraBytes() const = 0;
};

/// Dense bytes of one element and of a whole tensor.
std::int64_t elementBytes(ElementType type);
std::int64_t elementCount(const Shape &shape);
/// "f32", "i64", ...: the names plan.json uses.
std::string_view elementName(ElementType type);

} // namespace syncline
