// The interface between generated code and the runtime. Generated code describes one training step
// to a StepBuilder; a backend prepares the step once and executes it once per training step.
//
// step.so exports, with C linkage,
//     int synclineStepAbi();             // returns syncline::stepAbi
//     const char *synclineStepBackend(); // whom it was compiled for: "cpu", "cuda"
//     void synclineBuildStep(syncline::StepBuilder &step);
// and has no undefined symbols of the runtime: StepBuilder is abstract.
//
// Call order: tensors and buckets are declared before an operation names them. Operations are
// appended in the plan's issue order and executed in that order on the compute stream. `issue` and
// `gather` hand a bucket to its communication channel as soon as the compute stream reaches them;
// `wait` blocks the compute stream until that bucket's collective is done. Building is
// single-threaded. Errors are sticky: the first one is kept with the operation's name, and later
// calls do nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace syncline {

/// Version of this interface. Raise it with every incompatible change of this header.
inline constexpr int stepAbi = 13;

enum class ElementType { f32, f64, f16, bf16, i64, i32, u8 };

using Shape = std::vector<std::int64_t>;

/// Where a tensor's bytes live. Offsets are in bytes from the space's start, 64-byte aligned.
enum class Space {
  input,      ///< this rank's samples; filled by the data loader before each step
  target,     ///< the samples' labels; filled likewise
  parameters, ///< trained values; laid out exactly as `gradients`, so that an update is one loop a
              ///< bucket
  gradients,  ///< one interval per bucket; a gradient is written straight to its place
  state,      ///< kept between steps, not trained: running statistics, frozen parameters, constants
  arena,      ///< all other tensors; those with disjoint lifetimes share bytes
};

/// A declared tensor.
struct Tensor {
  int id = -1;
  bool isValid() const { return id >= 0; }
};

/// Stands for an absent operand: an optional input, or a gradient that is not needed.
inline constexpr Tensor none{};

struct TensorInfo {
  std::string_view name; ///< as in the model for input, target, parameters, gradients and state
  Space space;
  ElementType type;
  Shape shape;             ///< logical, dense; N C spatial... for images
  std::int64_t offset = 0; ///< bytes from the space's start
  /// Planned bytes. A backend's own layout may fill more than the dense size, up to this.
  std::int64_t reserved = 0;
  /// Whether a tensor of f32 in the arena is stored as bf16. It has half of the bytes, and only
  /// a run in bf16 can use it. Without the mark a backend may still store a tensor as bf16.
  bool isRounded = false;
};

struct BucketInfo {
  int id;
  int channel;
  std::string_view scheme; ///< how it travels: a name of Schemes.inc, which says what that does
  std::int64_t offset;     ///< in Space::gradients
  std::int64_t extent;     ///< bytes, alignment between members included
};

/// Spatial window of a convolution or a pooling, one entry per spatial dimension.
struct Window {
  Shape kernel; ///< pooling only; a convolution's is in its weights
  Shape strides, dilations, padsBegin, padsEnd;
  std::int64_t groups = 1;      ///< convolution only
  bool countIncludePad = false; ///< average pooling only
};

/// The function that an operation applies to its result while writing it.
enum class Activation { none, relu };

/// A generated loop over n elements, including a layout's padding. The type of operand i of ins and
/// outs is its tensor's. On "cuda", `queue` is a cudaStream_t: the call enqueues the loop there,
/// and the caller finds a failed launch by cudaGetLastError. On "cpu", `queue` is null, and the
/// loop has run when the call returns.
using PointwiseKernel = void (*)(void *const *outs, const void *const *ins, std::int64_t n,
                                 void *queue);

/// A PointwiseKernel some of whose f32 operands are stored as bf16. Where bit i of `rounded` is
/// set, operand i (inputs first, then results) is stored so. The loop computes in f32 and rounds
/// such results to the nearest even. A result may occupy the place of an input of the same size.
using RoundedKernel = void (*)(void *const *outs, const void *const *ins, std::int64_t n,
                               std::uint64_t rounded, void *queue);

/// What a loop of one result computes, where its kernel may be replaced by one that also computes
/// what precedes or follows the loop. Every sum is rounded to f32.
enum class LoopForm {
  other,
  sum,          ///< a + b
  sumRelu,      ///< s < 0 ? 0 : s, where s = a + b
  reluGradient, ///< gate <= 0 ? 0 : the sum of the other operands, which are one or two
};

struct PointwiseInfo {
  /// All operands have the result's shape, so that the loop works in any layout that they share. A
  /// loop that is not flat walks dense row-major operands and ignores n.
  bool flat = true;
  /// Whether f(0, .., 0) = 0, so that padding in blocked layouts stays zero.
  bool keepsZero = false;
  /// Null on "cpu", and for loops that are not flat, have no f32 operand, or have more operands
  /// than `rounded` has bits.
  RoundedKernel rounded = nullptr;
  /// On "cpu" always `other`.
  LoopForm form = LoopForm::other;
  int gate = 0; ///< the gate's place among the inputs of a reluGradient
};

/// How a reduction combines elements, in the order of nn's kinds. A maximum is NaN where one of its
/// elements is.
enum class Reduction { sum, mean, maximum };

/// The operands of a kernel in Kernels.inc. Those that are optional or skippable may be `none`: a
/// call skips a result that nothing reads.
using In = Tensor;
using OptionalIn = Tensor;
using InList = std::span<const Tensor>;
using Out = Tensor;
using OptionalOut = Tensor;
using SkippableOut = Tensor;

struct StepTables;

/// Receives the description of a step from generated code. One call of a method for an operation is
/// one operation of the plan; generated code has operations() make these calls.
class StepBuilder {
public:
  virtual ~StepBuilder() = default;

  virtual Tensor tensor(const TensorInfo &info) = 0;
  virtual void bucket(const BucketInfo &info) = 0;

  /// States that the operations that follow belong to this phase ("forward", "backward", "update").
  /// Traces and error messages print it.
  virtual void phase(std::string_view name) = 0;

  // One method for each row, such as void softmax(std::string_view layer, Tensor x, ..).
#define SYNCLINE_KERNEL(name, flops, ...)                                                          \
  virtual void name(std::string_view layer, __VA_ARGS__) = 0;
#include "syncline/Kernels.inc"

  /// Names the scalar that is reported as the step's loss.
  virtual void loss(Tensor loss) = 0;
  /// Hands the bucket to its channel; its members are complete. With "reduce-scatter" the channel
  /// also runs the optimizer, each rank on its part of the interval, and gathers the new
  /// parameters: operations that read the old parameters come before issue(), those that read the
  /// new ones after wait().
  virtual void issue(int bucket) = 0;
  /// Hands the second half of a bucket by a scheme with halves (hasHalves in Scheme.h) to its
  /// channel, in the same step behind issue(), which then hands over the first half only: a
  /// reduce-scatter and, by the scheme "reduce-scatter", the optimizer's part. The second half
  /// gathers the sums, or by "reduce-scatter" the new parameters. wait() waits for both.
  virtual void allGather(int bucket) = 0;
  /// Hands the factors of a bucket that travels by "factors" to its channel, in place of issue().
  /// outs[i] becomes all ranks' ins[i], one behind the other along dimension 0 in rank order, and
  /// can be read after wait(bucket). From here on outs are in use and ins are free.
  virtual void gather(int bucket, std::span<const Tensor> ins, std::span<const Tensor> outs) = 0;
  virtual void wait(int bucket) = 0;
  /// Runs the optimizer over the bucket's interval. Gradients are scaled by 1/ranks first. Not for
  /// buckets that travel by "reduce-scatter".
  virtual void update(int bucket) = 0;

  /// Appends the operations of a step's tables (StepTables.h) by the methods above, in the rows'
  /// order. `tensors` has what tensor() gave, by the rows' numbers.
  virtual void operations(const StepTables &tables, std::span<const Tensor> tensors) = 0;
};

} // namespace syncline
