// Local updates: ranks train by their own gradients, and weights travel now and then.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/core/Exchanges.h"
#include "runtime/run/LossExchange.h"
#include "runtime/run/plan/Plan.h"
#include "runtime/run/weights/ExchangedWeights.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace syncline::run {

/// Carries out a plan's exchanges (rule P31 of ir/plan/SPEC.md) between the steps of one rank.
///
/// local: the weights w become their mean over the ranks.
///
/// diloco: the ranks have weights c in common, at first the initial ones. A fragment's message sums
/// c - w. When it has arrived, with its mean d over the ranks:
///
///     v ← momentum·v + d
///     c ← c - rate·(d + momentum·v)
///     w ← (1 - mix)·c + mix·w
///
/// The messages do not touch weights between their start and their arrival, so that steps may go
/// on. Losses travel beside fragments, so that ranks wait for each other no more often than the
/// fragments make them. One thread makes all calls.
class LocalUpdates : public core::Exchanges {
public:
  /// The weights have their initial values; `channel` is null in a run of one rank. They and
  /// `losses` outlive the updates. Errors: badInput where memory is short; the backend's.
  static Result<std::unique_ptr<LocalUpdates>> create(const PlanConsistency &plan,
                                                      ExchangedWeights weights, int ranks,
                                                      core::Channel *channel, LossExchange &losses);

  Status beforeStep(std::int64_t) override { return Status::ok(); }
  /// Starts and receives the fragments that are due after step `number`, which is complete and
  /// whose loss has been added to the losses. Errors: peerLost.
  Status afterStep(std::int64_t number) override;
  /// Whether a period ends with step `number`. No fragment is then under way.
  bool isStill(std::int64_t number) const override { return (number + 1) % plan.period == 0; }
  /// Waits for the fragment that is under way, if there is one, without using it.
  Status drain() override;
  /// Ends the run: what is under way is used at once, and each fragment that has training which
  /// was not sent travels once more. All ranks then have equal weights; with diloco these are the
  /// common ones. Errors: peerLost.
  Status finish() override;
  std::vector<core::ExchangeState> state() override;

private:
  struct Fragment {
    const PlanExchange *plan;
    std::span<float> weights, common, velocity; ///< the last two are empty without diloco or
                                                ///< momentum
    /// Steps after which all training of this rank has been sent, or given up.
    std::int64_t sentAfter = 0;
  };

  LocalUpdates(const PlanConsistency &plan, ExchangedWeights weights, int ranks,
               core::Channel *channel, LossExchange &losses)
      : plan(plan), weights(weights), ranks(ranks), channel(channel), losses(losses) {}
  Status allocate();
  bool isDiloco() const { return plan.form == PlanConsistency::Form::diloco; }
  Status start(Fragment &fragment);
  Status wait();
  Status arrive(Fragment &fragment, float mix);

  const PlanConsistency plan;
  const ExchangedWeights weights;
  const int ranks;
  core::Channel *const channel;
  LossExchange &losses;
  std::span<float> common, velocity, difference; ///< empty without diloco
  std::vector<Fragment> fragments;
  Fragment *underWay = nullptr;
  bool hasArrived = false; ///< whether the message of `underWay` has been waited for
  std::int64_t steps = 0;  ///< that are complete
};

} // namespace syncline::run
