// OrderProblem: when each gradient travels, if the next forward pass need not wait for all of them.
// A gradient must be back only before the next forward pass reads its parameters, so messages may
// hide behind that pass too, may overtake each other, and may carry a part of a gradient. This file
// declares the problem, a solution and the certificate of a bound; README.md ("The order problem")
// has the mathematics.
//
// Where messages slow computation, ready times, tails and the times of an order's messages are by
// the clock that stands still for what messages take (Interference.h). Periods are true. They count
// that messages slow all operations alike, also where classes of operations are told apart.
//
// This file neither searches nor judges: solver/OrderPlanner.h holds the algorithms,
// proof/OrderChecker.h the judge. Units: seconds and bytes; the backward pass starts at 0 s.
#pragma once

#include "passes/problem/Interference.h"

#include <array>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <vector>

namespace syncline::problem {

/// The sync problem with the next forward pass. Copyable. Thread-safe to read.
struct OrderProblem {
  /// Layers, schemes and costs. Times count from the start of the backward pass, and computeFree is
  /// its end.
  Problem sync;
  /// For each layer the computation, in seconds, that is left when its parameters are updated: the
  /// next forward pass from the first operation that reads them, and the updates of all layers that
  /// are read later.
  std::vector<double> tail;
  /// For each layer the seconds of its update, which may begin with the part of it that has
  /// arrived. Empty where updates take no time.
  std::vector<double> update = {};
  /// Seconds of the next forward pass and all updates, where no message delays them.
  double forward = 0;
  /// A message may end inside a gradient only at multiples of so many bytes from its first byte.
  std::int64_t grain = 64;
  /// Whether a message may end inside a gradient at all. Not where the optimizer needs norms of
  /// whole parameters.
  bool cutsGradients = true;

  /// Seconds of computation in a step.
  double compute() const { return sync.computeFree + forward; }
  double updateOf(std::size_t layer) const { return update.empty() ? 0 : update[layer]; }
  /// Seconds that follow the layer's last message at least. Factors arrive at once, before the
  /// whole update.
  double tailBehind(std::size_t layer) const {
    return tail[layer] + (sync.layers[layer].mergeClasses == 0 ? updateOf(layer) : 0);
  }
};

/// Returns badInput unless `sync` is valid, `forward` is finite, there is one tail for each layer,
/// which with its update lies within [0, forward] and, up to rounding, is no longer than the tail
/// of every layer that is read earlier, and grain is at least 1.
Status validate(const OrderProblem &problem);

/// The problem whose bound holds for this one: messages take the least from computation that they
/// take from any class of operations, or from all alike, as periods count. The same where classes
/// are not told apart.
inline OrderProblem withLeastLosses(OrderProblem problem) {
  problem.sync = withLeastLosses(std::move(problem.sync), true);
  return problem;
}

/// The layers in the order in which the next forward pass reads them first.
std::vector<std::size_t> readersOf(const OrderProblem &problem);

/// A bucket may travel in halves (hasHalves()): a reduce-scatter first, and at a later place in the
/// order an all-gather. By "reduce-scatter" each rank updates its share in the first half, and the
/// second one gathers the parameters. By an all-reduce the second one gathers the gradients.
enum class Half : std::uint8_t { whole, first, second };

/// One message of an order: a run of bytes of a merge class's layout, or one layer's factors. Where
/// a plan's Message lists gradients, this one says which bytes take the channel when, so that it
/// can be cut, joined and moved. Each half of a bucket is one.
struct OrderMessage {
  bool isFactors = false;
  std::size_t index = 0;           ///< the merge class, or the layer whose factors travel
  std::size_t option = 0;          ///< number of the merge class's or the layer's factor option
  std::int64_t begin = 0, end = 0; ///< bytes of the layout (ClassLayout); 0 where isFactors
  double start = 0;                ///< seconds when it takes the channel
  double finish = 0;               ///< seconds when it frees the channel
  Half half = Half::whole;         ///< the second half has the first one's bytes

  std::int64_t bytes() const { return end - begin; }
};

struct OrderSolution {
  /// How each layer travels: none joins, since messages say what is sent together.
  std::vector<Choice> choices;
  std::vector<OrderMessage> messages; ///< in issue order, which is the channel's order
  double period = 0;                  ///< seconds from one step to the next
};

/// Seconds that the message takes the channel, without what it takes from computation. A half of a
/// bucket takes half of the bucket's time. Precondition: its class, or layer, and its option exist.
double secondsOf(const Problem &problem, const OrderMessage &message);

/// Seconds that the message, or all messages of the order, take from computation. A half takes half
/// of what its bucket does. Precondition: as above.
double lostSeconds(const Problem &problem, const OrderMessage &message);
double lostSeconds(const Problem &problem, const OrderSolution &order);

/// The fastest of the class's schemes that have halves, for so many bytes; none if it has none.
std::optional<std::size_t> bestHalvedOption(const MergeClass &mergeClass, std::int64_t bytes);

/// Where the layers of one merge class lie: one behind the other, the last in backward order first,
/// so that neighbours in memory are neighbours in the forward pass.
struct ClassLayout {
  std::vector<std::size_t> layers; ///< descending
  std::vector<std::int64_t> begin; ///< one byte offset more than there are layers

  ClassLayout(const Problem &problem, std::span<const Choice> choices, std::size_t mergeClass);

  std::int64_t bytes() const { return begin.back(); }
  /// The index in `layers` of the layer that holds byte `at`. Precondition: 0 <= at < bytes().
  std::size_t indexAt(std::int64_t at) const;
  /// The indexes in `layers` of those of which the message carries bytes. Precondition: its bytes
  /// lie in the layout, and there is one.
  std::ranges::iota_view<std::size_t, std::size_t> carriedBy(const OrderMessage &message) const;
};

/// The layouts of all merge classes.
std::vector<ClassLayout> layoutsOf(const Problem &problem, std::span<const Choice> choices);

/// The clock of a step, with all messages of the order added at their true times.
ComputationClock clockOf(const Problem &problem, const OrderSolution &order);

/// The order as plans hold it, in issue order. Two halves are one message, at the place of the
/// first. A message lists its layers in descending order, as they lie in memory, and says which
/// bytes at its two ends travel elsewhere. Times count from the start of the backward pass, by the
/// true clock; `finish` is the period. Precondition: the solution is valid (proof::checkOrder).
Solution messagesOf(const OrderProblem &problem, const OrderSolution &order);

/// For each message of the order the number, from 0, of the plan's message that it is or is a half
/// of. Precondition: each second half follows its first one.
std::vector<std::size_t> numbersInPlan(const OrderSolution &order);

/// The order that the plan claims, which a checker has yet to judge: messages that do not list what
/// they carry become messages of bytes that do not exist.
OrderSolution orderFrom(const OrderProblem &problem, const Solution &plan);

/// The problem in which the layer travels by factors, or else in a bucket. The least time to
/// reconstruct it from factors is then a part of the forward pass and of the layer's update, so
/// that periods are those of the solutions of `problem` in which it travels so. Layers that
/// could ride with its factors travel in buckets where it does, if they may. Precondition:
/// travelsBothWays(problem, layer).
OrderProblem restricted(const OrderProblem &problem, std::size_t layer, bool byFactors);

/// Whether the layer exists and its gradient may travel by factors or in buckets, and not with
/// another layer's factors.
bool travelsBothWays(const OrderProblem &problem, std::size_t layer);

/// The problem in which one layer's messages end before another one's last message begins: the
/// first one's tail reaches over the second one's, and where the second one must travel by factors,
/// it is ready no earlier than the first one ends. Tails no longer say which layer is read first,
/// and ready times need not ascend: the result is for bounds alone. Precondition:
/// canTellOrder(problem, first, second), or canTellOrder(problem, second, first).
OrderProblem ordered(const OrderProblem &problem, std::size_t first, std::size_t second);

/// Whether the layers are two that travel by themselves, and the first one must travel by factors.
/// These then leave before the last message of `other`, or behind all of its messages.
bool canTellOrder(const OrderProblem &problem, std::size_t factors, std::size_t other);

/// Seconds that all layers' messages take from computation at least.
class LeastLost {
public:
  explicit LeastLost(const OrderProblem &problem);

  /// The seconds of layer k, for a certificate with this weight and these lines that does not name
  /// it. Messages may carry bytes of it beside those of layers that are named, so no byte counts
  /// more than these lines say. 0 where the layer may travel within another one's message.
  double beside(std::size_t k, double channelWeight,
                std::span<const Relaxation::Line, maxMergeClasses> lines) const;
  /// The computation of a step, with what all messages take from it.
  double period() const;

private:
  double of(std::size_t k, double channelWeight, std::span<const double> perByte) const;

  const OrderProblem *problem;
  bool slows;
  std::array<double, maxMergeClasses> perByte{};
};

/// A bound on the period: layers whose gradient exists no earlier than `ready` and whose tail is at
/// least `tail` cannot start to travel before `ready`, occupy the channel for at least what lines
/// under the costs say, and the last of them still has `tail` seconds of computation before it.
/// The computation of a step, with all reconstruction, is always a bound. A weighted mean of both
/// is one too. Where messages slow computation, what they take counts too: with the line of each
/// class under cost + (1 - channelWeight) / channelWeight * lost of its options, and for layers
/// that are not named as LeastLost says.
///
/// With `cases` the bound is proved twice instead, for the restricted() problem in which the layer
/// `splits` travels by factors and for the one in which it travels in a bucket. With `other`, it is
/// proved for the ordered() problem in which the factors of `splits` travel before the last message
/// of `other`, and for the one in which they travel behind all of its messages. Cases of an
/// ordered() problem do not tell apart ways.
struct OrderCertificate {
  double bound = 0;         ///< seconds: no solution has a shorter period
  double channelWeight = 1; ///< of the layers' bound, in (0, 1]; computation has the rest
  double ready = 0, tail = 0;
  /// One under every cost of each merge class, see above.
  std::array<Relaxation::Line, maxMergeClasses> lines = {};
  std::size_t splits = 0;
  std::optional<std::size_t> other = {};
  /// Empty, or two: by factors and in a bucket, or before and behind the other layer.
  std::vector<OrderCertificate> cases = {};

  static constexpr std::size_t maxCases = 64; ///< that are not split again
};

/// The case that proves least, which has no cases itself.
struct WeakestCase {
  OrderProblem problem;         ///< restricted to it
  OrderCertificate certificate; ///< of it
  /// The layers whose way it fixes, and whether they travel by factors.
  std::vector<std::pair<std::size_t, bool>> fixed;
  /// The layers whose messages end before the last message of another layer begins, and that one.
  std::vector<std::pair<std::size_t, std::size_t>> orders;
};

/// Precondition: the certificate is valid for the problem (proof::checkOrderBound).
WeakestCase weakestCase(const OrderProblem &problem, const OrderCertificate &certificate);

} // namespace syncline::problem
