// Scenario: the input of a simulation as plain structs: every rank's operations in issue order, the
// messages, and the machines.
//
// Units: seconds and bytes. This file has no MLIR; ir/ReadScenario.h makes scenarios from plans.
#pragma once

#include "passes/problem/OrderProblem.h"
#include "passes/simulate/Scatter.h"
#include "syncline/PlanConstants.h"
#include "syncline/Status.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace syncline::simulate {

enum class Phase { forward, backward, update };

/// One operation of a rank's compute stream.
struct Operation {
  enum class Kind {
    compute, ///< computes for `seconds`
    issue,   ///< hands a message to its channel
    wait,    ///< waits until the message has arrived: that of the step before if not issued yet
    update,  ///< updates the parameters of a message's gradients, for `seconds`
    square,  ///< adds up the squares of a message's gradients, for `seconds`
  };
  Kind kind = Kind::compute;
  Phase phase = Phase::forward;
  std::string layer = {}; ///< layer, for compute
  double seconds = 0;     ///< time on a rank without slowdown
  /// Its class, by which messages slow it; none: as all operations alike.
  std::optional<problem::WorkClass> work = {};
  int message = -1; ///< index into Scenario::messages, but for compute
};

using problem::Half;

struct Message {
  std::string name = {}; ///< a name for people
  Scheme scheme = Scheme::ring;
  std::int64_t bytes = 0; ///< bytes of the gradients; for factors those that one rank contributes
  /// The part of them that travels, where values are rounded for the way. Parameters that a
  /// reduce-scatter gathers travel whole.
  double wireShare = 1;
  int channel = 0;
  /// The planner's cost of the message on these machines. Where the time is measured (isStated) or
  /// where expanding it would take too long, the message takes this time alone, from when all ranks
  /// have begun it.
  std::shared_ptr<const problem::CollectiveCost> cost = nullptr;
  bool isStated = false;
  double shardUpdate = 0; ///< seconds per byte between the two halves of a reduce-scatter
  Half half = Half::whole;
  int firstHalf = -1; ///< for a second half: the number of the first half's message
  /// In a step of several micro-batches, for a message of an earlier one: its number in the
  /// last one.
  int inLastMicroBatch = -1;

  /// The `cost` of the message; each half has the part of it that its bytes have.
  double costSeconds() const {
    if (half == Half::whole)
      return cost->seconds(bytes);
    const double gathered = scheme == Scheme::reduceScatter ? 1 : wireShare;
    const double part = half == Half::first ? wireShare : gathered;
    return cost->seconds(bytes) * part / (wireShare + gathered);
  }
};

/// The machines. Node n has the devicesPerNode ranks from n * devicesPerNode on.
struct Machines {
  int ranks = 1;
  int devicesPerNode = 1;
  int cardsPerNode = 1;
  std::optional<problem::LinkRates> network = {};     ///< what these ranks get of one card
  std::optional<problem::LinkRates> inside = {};      ///< a device's rates to others of its node
  bool halfDuplex = false;                            ///< whether the network is half duplex
  std::map<int, problem::LinkRates> nodeNetwork = {}; ///< by node, where a node differs

  int servers = 0;        ///< parameter servers; 0: one beside every rank
  bool dedicated = false; ///< whether servers have machines and links of their own
  problem::LinkRates serverLink = {};
  /// The maximum bytes of a piece. Workers pull it from dedicated servers while they push the next.
  std::int64_t serverPiece = serverPieceBytes;

  /// The factor by which each rank's operations take longer than stated; empty: all 1.
  std::vector<double> slowdown = {};
  /// The part of the other ranks' samples that each rank has. Its passes take so much less; updates
  /// and reconstruction do not. Empty: all 1.
  std::vector<double> share = {};
  /// The factor (>= 1) by which a rank's operations take longer while a message is under way on one
  /// of its channels: from its start there (where it takes its cost, from when all ranks have begun
  /// it) to its end on this rank.
  double interference = 1;
  /// The factor (>= 1) beside messages of these schemes instead.
  std::map<Scheme, double> schemeInterference = {};
  /// Those of operations of each class, beside messages that slow classes unequally.
  std::map<Scheme, problem::ByClass<double>> classInterference = {};
  /// The factor (>= 1) that holds for the latency of a message instead. None: as beside its bytes.
  std::optional<double> latencyInterference = {};
  /// How many times as long (>= 1) each of two messages takes while both are under way, where one
  /// of them takes its cost.
  double messageInterference = 2;

  int nodes() const { return (ranks + devicesPerNode - 1) / devicesPerNode; }
  int nodeOf(int rank) const { return rank / devicesPerNode; }
  const problem::LinkRates &networkOf(int node) const;
  double slowdownOf(int rank) const {
    return slowdown.empty() ? 1 : slowdown[static_cast<std::size_t>(rank)];
  }
  double shareOf(int rank) const {
    return share.empty() ? 1 : share[static_cast<std::size_t>(rank)];
  }
};

struct Scenario {
  std::vector<Operation> operations; ///< operations of one step of any rank
  std::vector<Message> messages;
  /// The message that sums the loss of the step before, behind all others; it belongs to no
  /// gradient. -1 where the loss is not summed.
  int loss = -1;
  /// The message that sums squares of gradients over the ranks, which belongs to no gradient
  /// either. -1 where each rank knows all of them.
  int norm = -1;
  /// The operation, behind all others, that stands for what a step takes beside its operations. -1
  /// where nothing is known of it.
  int overhead = -1;
  Machines machines;
  int steps = 1;
  /// The first of the steps, which the means leave out. Where steps wait for messages of the step
  /// before, the first one waits for none, and its messages find the channels idle.
  int warmUp = 0;
  /// Every operation of every rank takes up to this part longer or shorter, evenly distributed.
  double jitter = 0;
  /// How much longer than stated all operations of a rank take, from step to step.
  Scatter scatter = {};
  /// Whether ranks go through the recorded steps of `scatter`. Otherwise all ranks take as long as
  /// the slowest one in the mean.
  bool replaysScatter = false;
  /// How many times as long as usual each message takes: its latencies and its bytes count so many
  /// times. By message and step, the steps over and over again; empty: all 1.
  std::vector<std::vector<double>> messageScatter = {};
  std::uint64_t seed = 0;
  /// Where the messages would expand into more tasks than this, each takes its `cost` instead.
  double maxTasks = 4e7;

  double messageScatterOf(std::size_t message, std::int64_t step) const {
    if (messageScatter.empty())
      return 1;
    const std::vector<double> &steps = messageScatter[message];
    return steps[static_cast<std::size_t>(step) % steps.size()];
  }
};

/// Makes message `first`, by a scheme that has halves, the first half of one. Returns the number of
/// the second half, which is added behind all messages. Precondition: the loss has no message yet.
std::size_t addSecondHalf(std::vector<Message> &messages, std::size_t first);

/// How many times as long a rank's operations of the class take while this message is under way;
/// without a class, by the factors of all operations. With the message's time T and its latency L,
/// which is its time without bytes, operations lose
/// L (1 - 1/latencyInterference) + (T - L) (1 - 1/interference) of its T seconds, by the message's
/// cost. Of several messages under way the one counts that slows operations most.
double slowing(const Message &message, const Machines &machines,
               std::optional<problem::WorkClass> work = std::nullopt);

/// The steps to leave out where steps wait for messages of the step before.
inline constexpr int carriedWarmUp = 3;

/// Says of each message whether its wait stands before its issue. Then it waits for the message of
/// the step before, and in the first step for nothing.
std::vector<bool> carriedMessages(const Scenario &scenario);

/// Says of each operation whether it waits for a carried message, or makes parameters new by it.
/// These operations take no time in the first step. Precondition: validate().
std::vector<bool> carriedOperations(const Scenario &scenario);

/// Returns badInput unless numbers are finite and in range, validateUses() accepts the scenario,
/// and the machines allow each message's scheme or state its cost.
Status validate(const Scenario &scenario);
/// Returns badInput unless every message is issued once, waited for once and updated after that and
/// before it is issued again, and operations take finite times.
Status validateUses(const Scenario &scenario);

} // namespace syncline::simulate
