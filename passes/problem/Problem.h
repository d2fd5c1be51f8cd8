// Problem: which scheme each gradient travels by and which gradients share a message, decided at
// once, on one in-order channel beside one computing device. This file declares the problem, a
// solution and the certificate of a bound; README.md ("The sync problem") has the mathematics.
//
// This file neither searches nor judges: solver/Solver.h and SchemePlanners.h hold the algorithms,
// solver/Replay.h the clock, proof/SolutionChecker.h the judge. Units: seconds and bytes.
#pragma once

#include "passes/problem/MergeProblem.h"
#include "syncline/Status.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace syncline::problem {

inline constexpr std::size_t maxMergeClasses = 3;
inline constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// Schemes that share one open bucket. A closed bucket may use any option of its class; the fastest
/// for its size is best. Schemes that only some layers allow, or that have a limit, form classes of
/// their own: several buckets are then open at the same time, which makes the search larger.
struct MergeClass {
  std::vector<SchemeOption> options;
  std::int64_t largestMessage = unlimited; ///< bytes that one bucket may hold
  /// Bytes that all gradients of the merge class may have together (servers' memory).
  std::int64_t capacity = unlimited;

  /// The index of the fastest option for `bytes`; the first wins a tie.
  std::size_t bestOption(std::int64_t bytes) const { return fastestOption(options, bytes); }
  /// The fastest option's time in seconds.
  double seconds(std::int64_t bytes) const {
    return options[bestOption(bytes)].cost->seconds(bytes);
  }
  /// The fastest option's time on a clock that stands still for what it takes from computation.
  double secondsOnClock(std::int64_t bytes) const {
    return options[bestOption(bytes)].secondsOnClock(bytes);
  }
};

/// A way for one layer's gradient to travel as factors, in a message of its own.
struct FactorOption {
  Scheme scheme = Scheme::factors;
  double seconds = 0;     ///< time on the channel
  double reconstruct = 0; ///< seconds of computation once the factors have arrived
  double traffic = 0;     ///< bytes that a node moves for it, both directions
  /// Bytes that one rank contributes where the scheme is factors. Planners ignore it; it is needed
  /// to pose the problem again for another cluster.
  std::int64_t factorBytes = 0;
  /// Seconds of computation that the message takes from the device beside it, up to `seconds`.
  double lost = 0;
  ByClass<double> lostBy = {}; ///< the same where all operations beside it are of one class

  /// The message's seconds on a clock that stands still for what messages take.
  double secondsOnClock() const { return seconds - lost; }
};

/// One gradient. Layers stand in backward order, so ready times ascend.
struct Layer {
  std::int64_t bytes = 0;
  double ready = 0;               ///< seconds from the start of the step
  std::uint32_t mergeClasses = 0; ///< bit l is set where the layer may use merge class l
  std::vector<FactorOption> factorOptions = {};
  /// The layer whose factor message also brings this gradient: a bias's gradient is the sum of the
  /// gathered dy. A piggyback needs no message of its own.
  std::optional<std::size_t> carrier = {};
  /// False where the next layer is of the same module. In PyTorch's step the gradients of a module
  /// are ready together, in an order of its own.
  bool endsModule = true;

  /// The fastest factor option. Precondition: there is one.
  const FactorOption &fastestFactors() const;
  /// The least seconds of its factors' message, without what it takes from computation, where it
  /// must travel by factors. Else 0: buckets may travel in parts, and the last one may be short.
  double leastSeconds() const;
};

/// A part of a step's computation: seconds from its beginning, were it never slowed.
struct WorkSpan {
  double begin = 0, end = 0;
};

/// Appends a span, as a part of the last one where it begins at its end. Nothing if it is empty.
void appendSpan(std::vector<WorkSpan> &spans, WorkSpan span);

/// Copyable; costs are shared and immutable. Thread-safe to read.
struct Problem {
  std::vector<Layer> layers;
  std::vector<MergeClass> mergeClasses;
  double computeFree = 0; ///< seconds; the backward pass ends here and reconstruction may begin
  bool onGpus = false;    ///< devices are GPUs; planners that imitate other systems need it
  /// Where messages slow classes of operations unequally: when memory-bound operations run, in
  /// ascending order. All others, and reconstruction, are products; then options' `lostBy` counts.
  /// None: messages take `lost` whatever runs beside them.
  std::optional<std::vector<WorkSpan>> memoryBound = {};

  /// The merge class whose capacity may bind, if there is one.
  std::optional<std::size_t> limitedMergeClass() const;
  /// Whether the layer alone fits into a merge class that it may use.
  bool allows(std::size_t layer, std::size_t mergeClass) const;
  /// Whether no merge class takes the layer. Without factor options it must then be a piggyback.
  bool hasNoMergeClass(std::size_t layer) const;
};

/// The problem with all times of its computation later by so many seconds.
Problem shifted(Problem problem, double seconds);

/// The problem as a MergeProblem, where it is nothing more: one merge class takes every layer,
/// there is no limit on messages or capacity, messages do not slow computation, and there are no
/// factor options. The result's finish leaves out computeFree. Precondition: the problem is valid.
std::optional<MergeProblem> plainProblem(const Problem &problem);

/// Returns badInput unless all of these hold. Messages count layers from 1, in backward order.
///   - There are 1..maxMergeClasses merge classes; their options have costs; at most one has a
///     capacity.
///   - Layers are as MergeProblem's, and computeFree is no earlier than the last of them.
///   - Factor options' numbers are finite and >= 0.
///   - Memory-bound spans ascend and end no later than computeFree.
///   - Carriers exist, are other layers and have a factor option; fewer than 64 carriers' pairs
///     overlap.
///   - Every layer can travel without the limited merge class, unless all layers that cannot fit
///     into it together. A layer may have no way but to piggyback where its carrier has none but
///     its factor options.
Status validate(const Problem &problem);

/// How one layer's gradient travels.
struct Choice {
  enum class Kind : std::uint8_t {
    join,      ///< the layer goes into the merge class's bucket, which stays open
    bucket,    ///< the layer goes into the merge class's bucket, which is then sent
    factors,   ///< the layer's factors go in a message of their own
    piggyback, ///< the gradient travels inside its carrier's factor message
  };
  Kind kind = Kind::bucket;
  std::uint8_t index = 0;        ///< merge class or factor option; 0 for a piggyback
  std::uint8_t option = fastest; ///< where the bucket closes: the merge class's option that it uses

  static constexpr std::uint8_t fastest = 255;

  friend bool operator==(const Choice &, const Choice &) = default;
};

/// One message.
struct Message {
  /// Layers in the message: ascending, or descending in an order (OrderProblem.h).
  std::vector<std::size_t> layers;
  bool isFactors = false;
  std::size_t mergeClass = 0; ///< number of the merge class, where !isFactors
  std::size_t option = 0;     ///< number of the merge class's or the layer's factor option
  std::int64_t bytes = 0;     ///< bytes of its layers' gradients, without piggybacks
  /// Bytes of the first listed gradient before the message's first byte, and of the last listed one
  /// behind its last byte. They travel in other messages. 0 but in an order.
  std::int64_t cutBefore = 0, cutBehind = 0;
  int channel = 0;          ///< which carries it; times are those of one channel for all
  double ready = 0;         ///< seconds when its last member is ready
  double start = 0;         ///< seconds when it takes the channel
  double end = 0;           ///< seconds when it frees the channel
  double reconstructed = 0; ///< seconds when its gradients exist, reconstructed if need be
  /// The all-gather of a message in halves; the times above are then the first half's.
  struct Gather {
    std::size_t place = 0; ///< among all messages of the order, second halves included, from 0
    double start = 0, end = 0;
  };
  std::optional<Gather> gather = {};

  /// Seconds when the channel is done with all of it.
  double arrived() const { return gather ? gather->end : end; }
  /// The bytes that it carries of a listed layer's gradient.
  std::int64_t bytesOf(const Problem &problem, std::size_t layer) const {
    return problem.layers[layer].bytes - (layer == layers.front() ? cutBefore : 0) -
           (layer == layers.back() ? cutBehind : 0);
  }
};

/// The factor option of a message by factors; null for a bucket. Precondition: it exists.
const FactorOption *factorOptionOf(const Problem &problem, const Message &message);

/// Seconds that the message takes the channel. Precondition: its option exists.
double secondsOf(const Problem &problem, const Message &message);

/// A solution: messages in issue order, which is the order of their last members.
struct Solution {
  std::vector<Message> messages;
  std::vector<std::size_t> piggybacks; ///< layers without a message, ascending
  double communicationEnd = 0;
  double computeEnd = 0; ///< end of the backward pass and of all reconstruction
  double finish = 0;     ///< the later of the two ends

  /// Bytes that a node moves, both directions.
  double traffic(const Problem &problem) const;
  Scheme scheme(const Problem &problem, const Message &message) const;

  /// Lets successive messages take turns on so many channels. Their order and times stay.
  void takeTurns(int channels);
  /// The number of channels that carry messages, at least 1.
  int channels() const;
};

/// How the layers travel in a solution of a sync problem or of an order problem. Layers that the
/// problem does not have are left out.
std::vector<Choice> layerChoices(const Problem &problem, const Solution &solution);

/// The state of a partial solution after some layer: all that later choices depend on.
struct PlanState {
  double free = 0;    ///< when the channel is free, at the earliest when the next layer is ready
  double compute = 0; ///< when the device is free for the next reconstruction
  /// Seconds of computation that the messages so far have taken (Interference.h). Whatever is ready
  /// later than all of them exists so much later.
  double lost = 0;
  /// Bytes in the limited merge class so far; 0 where no merge class is limited.
  std::int64_t held = 0;
  /// Bytes in each merge class's open bucket; `closed` where it has no open bucket.
  std::array<std::int64_t, maxMergeClasses> open{closed, closed, closed};
  /// One bit for each pair of carrier and piggyback of which one layer is decided (see PairBits):
  /// set when the other layer may choose freely.
  std::uint64_t freedom = 0;

  static constexpr std::int64_t closed = -1;
};

/// A line under every cost of every merge class, and weights; it bounds PlanStates
/// (passes/proof/README.md, "The bound"). Where messages slow computation, each line lies under
/// channelWeight * (cost - lost) + lost of every option instead.
struct Relaxation {
  double channelWeight = 1; ///< w, the channel's weight; the device's is 1 - w
  double heldWeight = 0;    ///< u, seconds per byte in the limited merge class
  struct Line {
    double latency = 0, secondsPerByte = 0;
  };
  std::array<Line, maxMergeClasses> lines;
};

/// Proof that no solution finishes before `bound`: a judge that follows every partial solution, but
/// for those that a relaxation shows to finish no earlier, finds none.
struct Certificate {
  double bound = 0;
  std::vector<Relaxation> relaxations;
};

/// Proof of a bound. A plain problem (see plainProblem) has a MergeCertificate, its array f.
using BoundProof = std::variant<MergeCertificate, Certificate>;

/// The bound that the proof proves, in seconds: no solution finishes earlier. Precondition: a
/// MergeCertificate has an entry.
double boundOf(const Problem &problem, const BoundProof &proof);

/// Assigns each pair of a piggyback and its carrier a bit of PlanState::freedom. A bit is reused
/// once both layers are decided.
struct PairBits {
  struct Pair {
    std::uint64_t bit = 0;
    bool opens = false;   ///< this layer is decided first
    bool carries = false; ///< this layer is the carrier
  };
  std::vector<std::vector<Pair>> ofLayer;
  std::size_t most = 0; ///< maximum number of bits in use at the same time

  explicit PairBits(const Problem &problem);

  /// Whether layer k may be decided as `kind` in a solution with the bits `freedom`; if so,
  /// `freedom` becomes the bits after that decision.
  bool settle(std::uint64_t &freedom, std::size_t k, Choice::Kind kind) const;
};

} // namespace syncline::problem
