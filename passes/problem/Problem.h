// Problem: by which scheme every gradient travels and which gradients travel together, decided
// at once, on one in-order channel beside one computing device. The problem, a plan and the
// certificate of a bound; README.md ("The sync problem") has the mathematics.
//
// Nothing here searches or judges: see Solver.h and SchemePlanners.h for algorithms,
// Replay.h for the clock and SolutionChecker.h for the judge. Units: seconds and bytes.
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

/// Schemes that merge gradients and share one open bucket. A closed bucket takes any option of its
/// merge class, best the fastest for its size. Merge classes of their own are for schemes that only
/// some layers allow or that are limited: their buckets may be open at the same time, and cost the
/// solver the more.
struct MergeClass {
  std::vector<SchemeOption> options;
  std::int64_t largestMessage = unlimited; ///< a bucket never holds more bytes
  std::int64_t capacity =
      unlimited; ///< all gradients of the merge class together (servers' memory)

  /// The fastest option for so many bytes; the first of equals.
  std::size_t bestOption(std::int64_t bytes) const;
  /// Its time in seconds.
  double seconds(std::int64_t bytes) const;
};

/// A way for one gradient to travel alone.
struct FactorOption {
  Scheme scheme = Scheme::factors;
  double seconds = 0;     ///< on the channel
  double reconstruct = 0; ///< computation once it has arrived
  double traffic = 0;     ///< bytes a node moves for it, both directions
  /// What one rank contributes, where the scheme is factors; no planner reads it. It is what it
  /// takes to pose the problem anew for another cluster.
  std::int64_t factorBytes = 0;
};

/// One gradient. Layers stand in backward order, so ready times ascend.
struct Layer {
  std::int64_t bytes = 0;
  double ready = 0;
  std::uint32_t mergeClasses = 0; ///< bit l: may travel in merge class l
  std::vector<FactorOption> factorOptions;
  /// A layer whose message of factors brings this gradient too: a bias is the sum of the gathered
  /// dy. It then needs no message.
  std::optional<std::size_t> carrier;
};

/// Copyable; costs are shared and immutable. Thread-safe to read.
struct Problem {
  std::vector<Layer> layers;
  std::vector<MergeClass> mergeClasses;
  double computeFree = 0; ///< when the backward pass is over and reconstruction may begin
  bool onGpus = false;    ///< what other systems send messages by depends on it

  /// The merge class whose capacity may bind, if any.
  std::optional<std::size_t> limitedMergeClass() const;
  /// Whether a layer alone fits into a merge class it may travel in.
  bool allows(std::size_t layer, std::size_t mergeClass) const;
  /// Whether no merge class takes a layer. Where it has no factor options either it must ride.
  bool hasNoMergeClass(std::size_t layer) const;
};

/// The same problem as merging alone, where it is no more than that: one merge class that takes
/// every layer, no limit on messages or capacity, no ways to travel alone. Its finish leaves out
/// computeFree. Precondition: the problem is valid.
std::optional<MergeProblem> plainProblem(const Problem &problem);

/// badInput unless merge classes are 1..maxLanes with options that have costs, at most one merge
/// class has a capacity, layers are as MergeProblem's, computeFree is no earlier than the last of
/// them, factor options' numbers are finite and >= 0, carriers exist, are other layers and have a
/// factor option, fewer than 64 carriers' pairs overlap, and every layer can travel somehow without
/// the limited merge class, unless all that cannot fit into it together. A layer may have no way
/// but to ride where its carrier has none but to travel alone. Messages count layers from 1, in
/// backward order.
Status validate(const Problem &problem);

/// What is decided for one layer.
struct Choice {
  enum class Kind : std::uint8_t {
    join,      ///< into the merge class's bucket, which stays open
    close,     ///< into the merge class's bucket, which then goes
    factors,   ///< alone
    piggyback, ///< with its carrier's message of factors
  };
  Kind kind = Kind::close;
  std::uint8_t index = 0;        ///< of the merge class or of the factor option; 0 for ride
  std::uint8_t option = fastest; ///< of the merge class, for close: by which the bucket travels

  static constexpr std::uint8_t fastest = 255;

  friend bool operator==(const Choice &, const Choice &) = default;
};

/// One message.
struct Message {
  std::vector<std::size_t> layers; ///< ascending
  bool isFactors = false;
  std::size_t mergeClass = 0; ///< where !isFactors
  std::size_t option = 0;     ///< of the merge class, or of its layer's factor options
  std::int64_t bytes = 0;     ///< of the gradients it stands for, piggybacks not counted
  double ready = 0;           ///< when its last member is
  double start = 0;           ///< when it takes the channel
  double end = 0;             ///< when it frees the channel
  double reconstructed = 0;   ///< when its gradients exist: end, or the end of its reconstruction
};

/// Messages in issue order: by their last member.
struct Solution {
  std::vector<Message> messages;
  std::vector<std::size_t> piggybacks; ///< layers without a message, ascending
  double communicationEnd = 0;
  double computeEnd = 0; ///< of the backward pass and all reconstruction
  double finish = 0;     ///< the later of the two

  /// Bytes a node moves, both directions.
  double traffic(const Problem &problem) const;
  Scheme scheme(const Problem &problem, const Message &message) const;
};

/// How far a partial plan has come after some layer: nothing that can follow needs more.
struct PlanState {
  double free = 0; ///< the channel is free for the next message, not before the next layer is ready
  double compute = 0; ///< the device is free for the next reconstruction
  std::int64_t held =
      0; ///< bytes of the limited merge class so far; 0 where no merge class is limited
  /// Bytes in the merge class's open bucket; closed where it has no members.
  std::array<std::int64_t, maxMergeClasses> open{closed, closed, closed};
  /// A bit per carrier's pair of which one member is decided (see PairBits): set when the other
  /// may choose freely.
  std::uint64_t freedom = 0;

  static constexpr std::int64_t closed = -1;
};

/// A line under every cost of every merge class, and a weight: what PlanStates are bounded by
/// (passes/proof/README.md, "The bound").
struct Relaxation {
  double channelWeight = 1; ///< w; the device's is 1 - w
  double heldWeight = 0;    ///< seconds per byte in the limited merge class
  struct Line {
    double latency = 0, secondsPerByte = 0;
  };
  std::array<Line, maxMergeClasses> lines;
};

/// Proof that no plan finishes before `bound`: after layer k every plan is in a state that one of
/// states[k] is no worse than, or that some relaxation shows to finish no earlier than `bound`.
/// Planners list no states: a judge derives those that no relaxation shows to be late about as fast
/// as it reads them.
struct Certificate {
  double bound = 0;
  std::vector<Relaxation> relaxations;
  std::vector<std::vector<PlanState>> states; ///< none, or one list more than layers
};

/// Proof of a bound: a plain problem's (see plainProblem) is the array f.
using BoundProof = std::variant<MergeCertificate, Certificate>;

/// What the proof proves, seconds: no plan of the problem finishes earlier. Preconditions: the
/// array has an entry.
double boundOf(const Problem &problem, const BoundProof &proof);

/// Which bit of PlanState::freedom belongs to which pair of a piggyback and its carrier; bits are
/// reused once both are decided.
struct PairBits {
  struct Pair {
    std::size_t other = 0; ///< the layer at the pair's other end
    std::uint64_t bit = 0;
    bool opens = false;   ///< this layer is decided first
    bool carries = false; ///< this layer is the carrier
  };
  std::vector<std::vector<Pair>> ofLayer;
  std::size_t most = 0; ///< bits in use at the same time

  explicit PairBits(const Problem &problem);

  /// Whether a plan with these bits may decide so for layer k; then the bits are those afterwards.
  bool settle(std::uint64_t &freedom, std::size_t k, Choice::Kind kind) const;
};

} // namespace syncline::problem
