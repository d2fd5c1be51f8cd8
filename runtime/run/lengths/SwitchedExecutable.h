// One executable made of several, whose steps train the same parameters.
#pragma once

#include "runtime/core/Executable.h"

#include <map>
#include <string>
#include <vector>

namespace syncline::run {

/// Steps of several lengths over one memory of parameters and gradients
/// (core::ExecutableOptions::shares). The last one, the *own* executable, keeps the optimizer, and
/// answers all that is not of a step; the chosen one computes. Not while a step runs, another one
/// may be chosen.
class SwitchedExecutable final : public core::Executable {
public:
  /// `states` are the tensors of Space::state that steps may change, such as running statistics:
  /// they lie in each executable's own memory. The executables outlive this object; the last one is
  /// chosen. Precondition: all have the same buckets.
  SwitchedExecutable(std::vector<core::Executable *> all, std::vector<std::string> states);

  /// Chooses executable `number`, which gets the states of the one that was chosen before. Errors:
  /// the backend's.
  Status choose(std::size_t number);
  std::size_t chosen() const { return number; }
  std::size_t count() const { return all.size(); }

  StepBuilder &builder() override { return own().builder(); }
  Status finish() override { return own().finish(); }
  Status feed(int tensor, std::span<const std::byte> dense) override {
    return own().feed(tensor, dense);
  }
  core::WeightArithmetic &weights() override { return own().weights(); }
  std::int64_t extraBytes() const override;

  std::span<const core::OperationInfo> operations() const override {
    return present().operations();
  }
  std::span<const core::Bucket> buckets() const override { return own().buckets(); }
  void beginStep(std::int64_t step) override;
  Status run(int operation) override;
  Status synchronize() override { return present().synchronize(); }
  double loss() override { return present().loss(); }
  Status addSquares(int bucket) override { return own().addSquares(bucket); }
  Result<double *> shardSquares() override { return own().shardSquares(); }
  double gradientNorm() override { return own().gradientNorm(); }
  Status setLossScale(double scale) override;
  Status weighLoss(double weight) override;
  Status mark(int place) override { return present().mark(place); }
  Result<std::vector<double>> marks() override { return present().marks(); }
  void setEvaluation(bool evaluates) override;

  std::span<const core::StepTensor> tensors() const override { return own().tensors(); }
  int find(Space space, std::string_view name) const override { return own().find(space, name); }
  core::Interval space(Space space) override { return own().space(space); }
  Status read(int tensor, std::span<std::byte> dense) override { return own().read(tensor, dense); }
  Status write(int tensor, std::span<const std::byte> dense) override {
    return own().write(tensor, dense);
  }
  std::string layout(int tensor) const override { return own().layout(tensor); }
  std::string layoutFingerprint() const override;

  Status setOptimizer(const core::OptimizerOptions &options) override {
    return own().setOptimizer(options);
  }
  void setRate(int bucket, double rate) override { own().setRate(bucket, rate); }
  void setStepRate(double rate) override { own().setStepRate(rate); }
  Status setRules(const std::map<int, core::ParameterRule> &rules) override {
    return own().setRules(rules);
  }
  Status setUpdates(std::int64_t made) override { return own().setUpdates(made); }
  Status takeShard(int bucket, std::int64_t begin, std::int64_t bytes) override {
    return own().takeShard(bucket, begin, bytes);
  }
  Status updateShard(int bucket, const core::SumOverRanks &sum) override {
    return own().updateShard(bucket, sum);
  }
  std::vector<core::StateInterval> stateIntervals() const override {
    return own().stateIntervals();
  }
  Status readState(const core::StateInterval &interval, std::span<std::byte> raw) override {
    return own().readState(interval, raw);
  }
  Status writeState(const core::StateInterval &interval, std::span<const std::byte> raw) override {
    return own().writeState(interval, raw);
  }
  Status readVelocity(int parameter, std::span<std::byte> dense) override {
    return own().readVelocity(parameter, dense);
  }
  Status writeVelocity(int parameter, std::span<const std::byte> dense) override {
    return own().writeVelocity(parameter, dense);
  }
  bool metNonFinite() override { return own().metNonFinite(); }

private:
  core::Executable &own() const { return *all.back(); }
  core::Executable &present() const { return *all[number]; }

  std::vector<core::Executable *> all;
  std::vector<std::string> states;
  std::map<int, int> updates; ///< the own executable's update of each bucket
  std::size_t number;
};

} // namespace syncline::run
