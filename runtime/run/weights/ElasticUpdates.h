// Synchronous EASGD: ranks and a centre attract each other, by sums of weights.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/core/Exchanges.h"
#include "runtime/run/LossExchange.h"
#include "runtime/run/plan/PlanConsistency.h"
#include "runtime/run/weights/ExchangedWeights.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace syncline::run {

/// Carries out EASGD's variants sync1, sync2 and sync3. The centre C has the initial weights at
/// first. In every period's first step, with a = learning rate times rho, and W and C as they are
/// before that step:
///
///     W ← W after the step - a·(W - C)
///     C ← C + a·(sum over the ranks of W - ranks·C)
///
/// sync1: before the step the sum goes up a tree to its root, which has the centre, and the centre
/// comes down. sync2: before the step all ranks get the sum, and each has the centre. sync3: the
/// same sum travels while the step computes. All three have the same bits where they sum by a tree.
///
/// In periods of several steps the losses so far leave behind the exchange and are received after
/// the period's last step, so that ranks wait for each other once a period.
class ElasticUpdates : public core::Exchanges {
public:
  /// The weights have their initial values; `channel` is null in a run of one rank; `losses` is
  /// null where the caller lets losses travel. All of them outlive the updates. Errors: badInput
  /// where memory is short; the backend's.
  static Result<std::unique_ptr<ElasticUpdates>> create(const PlanConsistency &plan, double rate,
                                                        ExchangedWeights weights, int ranks,
                                                        core::Channel *channel,
                                                        LossExchange *losses);

  Status beforeStep(std::int64_t number) override;
  Status afterStep(std::int64_t number) override;
  bool isStill(std::int64_t number) const override { return isDue(number + 1); }
  Status drain() override { return Status::ok(); }
  /// The weights become the centre.
  Status finish() override;
  std::vector<core::ExchangeState> state() override { return {{centre, {}}}; }

private:
  ElasticUpdates(const PlanConsistency &plan, double rate, ExchangedWeights weights, int ranks,
                 core::Channel *channel, LossExchange *losses)
      : plan(plan), share(static_cast<float>(rate * plan.rho)), weights(weights), ranks(ranks),
        channel(channel), losses(losses) {}
  Status allocate();
  bool isDue(std::int64_t number) const { return number % plan.period == 0; }
  Status exchangeLosses(std::int64_t number);
  Status pull();
  Status sumAlongTree();
  Status broadcastCentre();
  Status wait() { return channel->wait(core::fragmentMessage(0)); }

  const PlanConsistency plan;
  const float share;
  const ExchangedWeights weights;
  const int ranks;
  core::Channel *const channel;
  LossExchange *const losses;
  std::span<float> centre, own, sum; ///< own: W before the step
};

} // namespace syncline::run
