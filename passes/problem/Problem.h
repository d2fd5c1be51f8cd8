// JointProblem: by which scheme every gradient travels and which gradients travel together, decided
// at once, on one in-order channel beside one computing device. The problem, a plan and the
// certificate of a bound; README.md ("The joint choice") has the mathematics.
//
// Nothing here searches or judges: see JointSolver.h and JointPlanners.h for algorithms,
// JointReplay.h for the clock and JointChecker.h for the judge. Units: seconds and bytes.
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

namespace syncline::solver {

inline constexpr std::size_t maxLanes = 3;
inline constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// Schemes that merge gradients and share one open bucket. A closed bucket takes any option of its
/// lane, best the fastest for its size. Lanes of their own are for schemes that only some layers
/// allow or that are limited: their buckets may be open at the same time, and cost the solver the
/// more.
struct Lane {
  std::vector<SchemeOption> options;
  std::int64_t largestMessage = unlimited; ///< a bucket never holds more bytes
  std::int64_t capacity = unlimited;       ///< all gradients of the lane together (servers' memory)

  /// The fastest option for so many bytes; the first of equals.
  std::size_t bestOption(std::int64_t bytes) const;
  /// Its time in seconds.
  double seconds(std::int64_t bytes) const;
};

/// A way for one gradient to travel alone.
struct SoloOption {
  Scheme scheme = Scheme::factors;
  double seconds = 0; ///< on the channel
  double rebuild = 0; ///< computation once it has arrived
  double traffic = 0; ///< bytes a node moves for it, both directions
  /// What one rank contributes, where the scheme is factors; no planner reads it. It is what it
  /// takes to pose the problem anew for another cluster.
  std::int64_t factorBytes = 0;
};

/// One gradient. Layers stand in backward order, so ready times ascend.
struct JointLayer {
  std::int64_t bytes = 0;
  double ready = 0;
  std::uint32_t lanes = 0; ///< bit l: may travel in lane l
  std::vector<SoloOption> solos;
  /// A layer whose solo message brings this gradient too: a bias is the sum of the gathered dy. It
  /// then needs no message.
  std::optional<std::size_t> carrier;
};

/// Copyable; costs are shared and immutable. Thread-safe to read.
struct JointProblem {
  std::vector<JointLayer> layers;
  std::vector<Lane> lanes;
  double computeFree = 0; ///< when the backward pass is over and rebuilding may begin
  bool onGpus = false;    ///< what other systems send messages by depends on it

  /// The lane whose capacity may bind, if any.
  std::optional<std::size_t> limitedLane() const;
  /// Whether a layer alone fits into a lane it may travel in.
  bool allows(std::size_t layer, std::size_t lane) const;
  /// Whether no lane takes a layer. Where it has no solos either it must ride.
  bool isLaneless(std::size_t layer) const;
};

/// The same problem as merging alone, where it is no more than that: one lane that takes every
/// layer, no limit on messages or capacity, no ways to travel alone. Its finish leaves out
/// computeFree. Precondition: the problem is valid.
std::optional<MergeProblem> plainProblem(const JointProblem &problem);

/// badInput unless lanes are 1..maxLanes with options that have costs, at most one lane has a
/// capacity, layers are as MergeProblem's, computeFree is no earlier than the last of them, solos'
/// numbers are finite and >= 0, carriers exist, are other layers and have a solo, fewer than 64
/// carriers' pairs overlap, and every layer can travel somehow without the limited lane, unless all
/// that cannot fit into it together. A layer may have no way but to ride where its carrier has none
/// but to travel alone. Messages count layers from 1, in backward order.
Status validate(const JointProblem &problem);

/// What is decided for one layer.
struct Choice {
  enum class Kind : std::uint8_t {
    join,  ///< into the lane's bucket, which stays open
    close, ///< into the lane's bucket, which then goes
    solo,  ///< alone
    ride,  ///< with its carrier's solo message
  };
  Kind kind = Kind::close;
  std::uint8_t index = 0;        ///< of the lane or of the solo option; 0 for ride
  std::uint8_t option = fastest; ///< of the lane, for close: by which the bucket travels

  static constexpr std::uint8_t fastest = 255;

  friend bool operator==(const Choice &, const Choice &) = default;
};

/// One message.
struct JointMessage {
  std::vector<std::size_t> layers; ///< ascending
  bool isSolo = false;
  std::size_t lane = 0;   ///< where !isSolo
  std::size_t option = 0; ///< of the lane, or of its layer's solos
  std::int64_t bytes = 0; ///< of the gradients it stands for, riders not counted
  double ready = 0;       ///< when its last member is
  double start = 0;       ///< when it takes the channel
  double end = 0;         ///< when it frees the channel
  double rebuilt = 0;     ///< when its gradients exist: end, or the end of its rebuilding
};

/// Messages in issue order: by their last member.
struct JointPlan {
  std::vector<JointMessage> messages;
  std::vector<std::size_t> riders; ///< layers without a message, ascending
  double communicationEnd = 0;
  double computeEnd = 0; ///< of the backward pass and all rebuilding
  double finish = 0;     ///< the later of the two

  /// Bytes a node moves, both directions.
  double traffic(const JointProblem &problem) const;
  Scheme scheme(const JointProblem &problem, const JointMessage &message) const;
};

/// How far a partial plan has come after some layer: nothing that can follow needs more.
struct PlanState {
  double free = 0; ///< the channel is free for the next message, not before the next layer is ready
  double compute = 0;    ///< the device is free for the next rebuilding
  std::int64_t held = 0; ///< bytes of the limited lane so far; 0 where no lane is limited
  /// Bytes in the lane's open bucket; closed where it has no members.
  std::array<std::int64_t, maxLanes> open{closed, closed, closed};
  /// A bit per carrier's pair of which one member is decided (see PairBits): set when the other
  /// may choose freely.
  std::uint64_t freedom = 0;

  static constexpr std::int64_t closed = -1;
};

/// A line under every cost of every lane, and a weight: what PlanStates are bounded by (README.md,
/// "The bound").
struct Relaxation {
  double channelWeight = 1; ///< w; the device's is 1 - w
  double heldWeight = 0;    ///< seconds per byte in the limited lane
  struct Line {
    double latency = 0, secondsPerByte = 0;
  };
  std::array<Line, maxLanes> lines;
};

/// Proof that no plan finishes before `bound`: after layer k every plan is in a state that one of
/// states[k] is no worse than, or that some relaxation shows to finish no earlier than `bound`.
/// Planners list no states: a judge derives those that no relaxation shows to be late about as fast
/// as it reads them.
struct JointCertificate {
  double bound = 0;
  std::vector<Relaxation> relaxations;
  std::vector<std::vector<PlanState>> states; ///< none, or one list more than layers
};

/// Proof of a bound: a plain problem's (see plainProblem) is the array f.
using BoundProof = std::variant<Certificate, JointCertificate>;

/// What the proof proves, seconds: no plan of the problem finishes earlier. Preconditions: the
/// array has an entry.
double boundOf(const JointProblem &problem, const BoundProof &proof);

/// Which bit of PlanState::freedom belongs to which pair of a rider and its carrier; bits are
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

  explicit PairBits(const JointProblem &problem);

  /// Whether a plan with these bits may decide so for layer k; then the bits are those afterwards.
  bool settle(std::uint64_t &freedom, std::size_t k, Choice::Kind kind) const;
};

} // namespace syncline::solver
