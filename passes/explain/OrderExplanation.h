// OrderExplanation: why a gradient of a plan with an order travels when it does.
//
// Functions are pure and thread-safe. Units: seconds and bytes. Times count from the beginning of
// the backward pass, layers from zero in backward order, messages from zero in issue order.
#pragma once

#include "passes/explain/Regrouping.h"
#include "passes/problem/OrderProblem.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace syncline::explain {

/// One message of the plan.
struct ExplainedMessage {
  problem::Message message;
  Scheme scheme = Scheme::ring;
  /// When it must end so that the step is as short as planned, where all others end as planned.
  double latest = 0;
  std::size_t urgent = 0; ///< the layer that sets `latest`
};

/// What one message brings of the gradient.
struct OrderedPart {
  std::size_t message = 0;
  std::int64_t bytes = 0; ///< less than the gradient's where it is cut
  double latest = 0;      ///< when it must arrive for this gradient's sake, as above
};

/// A message that left or, in halves, arrived before another one although it was ready later.
struct Overtaking {
  std::size_t message = 0;
  bool isNeeded = false; ///< the message that overtook must also end first
};

/// The period of the same messages in another order.
struct OtherOrder {
  double period = 0;
  bool isPlanned = false; ///< the order is the plan's
};

/// The certificate's argument, in the case that proves least, and whether it rests on the gradient.
struct OrderProof {
  double bound = 0;
  double compute = 0;        ///< computation of a step
  double leastLost = 0;      ///< what messages take from it at least; with `compute` a bound
  double channelWeight = 1;  ///< of the gradients' bound; that of computation is 1 less it
  double ready = 0;          ///< the least ready time of the gradients that prove the bound
  double tail = 0;           ///< the least tail of these gradients
  double lostBeside = 0;     ///< what messages of all other gradients take at least
  bool isMember = false;     ///< the gradient is one of them
  bool mayPiggyback = false; ///< left out, since it could travel within another message
  /// The layers whose way this case fixes, and whether they travel by factors. The tail and the
  /// computation count what their reconstruction takes.
  std::vector<std::pair<std::size_t, bool>> fixed = {};
  /// Layers whose messages end before the last message of another one begins, and that one. Ready
  /// times and tails count that too.
  std::vector<std::pair<std::size_t, std::size_t>> orders = {};

  bool isByComputation() const { return bound <= compute + leastLost; }
  /// Seconds that the gradients need the channel. A second of reconstruction, or taken from
  /// computation, counts as price().
  double channel() const {
    return (bound - lostBeside - (1 - channelWeight) * compute) / channelWeight - ready - tail;
  }
  /// Seconds of the channel that a second of computation counts as.
  double price() const { return (1 - channelWeight) / channelWeight; }
};

struct OrderExplanation {
  std::size_t layer = 0;
  std::int64_t bytes = 0;
  double ready = 0;
  double update = 0;
  double reconstruct = 0; ///< where it travels by factors
  /// What is left of the next forward pass after its update, with all updates and reconstructions
  /// of gradients that are read later.
  double tail = 0;
  double period = 0;
  std::optional<std::size_t> carrier; ///< where it is a piggyback, the layer whose message it uses
  std::vector<ExplainedMessage> messages; ///< the plan's
  std::vector<OrderedPart> parts;         ///< ascending; none for a gradient without bytes
  std::vector<Overtaking> overtakers;     ///< messages that overtook one of its messages, ascending
  std::vector<Overtaking> overtaken;      ///< messages that one of its messages overtook, ascending
  OtherOrder raised;  ///< its messages leave before all that start once they are ready
  OtherOrder lowered; ///< its messages leave last, with both halves
  std::optional<OrderProof> proof;
  /// The message that brings the part with the least time left; absent where that is by factors.
  std::optional<Grouping> grouping;

  /// The part that has the least time left when it arrives. Precondition: there is a part.
  const OrderedPart &tightest() const;
};

/// Explains when the gradient of `layer` travels. Precondition: the messages are a valid order for
/// the problem (proof::checkMessages).
OrderExplanation explainOrder(const problem::OrderProblem &problem,
                              const problem::Solution &messages,
                              const std::optional<problem::OrderCertificate> &certificate,
                              std::size_t layer);

} // namespace syncline::explain
