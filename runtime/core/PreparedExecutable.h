// What the executables of all backends have in common.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/core/Optimizer.h"

namespace syncline::core {

/// Answers what the step's table and the optimizer know. Program and Builder are those of
/// OperationBuilder. Program also has `options`, and the settings `isEvaluation`, `lossScale` and
/// `lossWeight` of StepRunner.
template <typename Program, typename Builder> class PreparedExecutable : public Executable {
public:
  StepBuilder &builder() final { return steps; }
  std::span<const OperationInfo> operations() const final { return program.table.operations; }
  std::span<const Bucket> buckets() const final { return program.table.buckets; }
  std::span<const StepTensor> tensors() const final { return program.table.tensors; }
  int find(Space space, std::string_view name) const final {
    return program.table.find(space, name);
  }

  std::vector<StateInterval> stateIntervals() const final { return optimizer.stateIntervals(); }
  void setRate(int bucket, double rate) final { optimizer.setRate(bucket, rate); }
  Status readVelocity(int parameter, std::span<std::byte> dense) final {
    SYNCLINE_TRY_GET(data, optimizer.velocityOf(parameter));
    return transfer(parameter, *data, dense.data(), dense.size(), /*toHost=*/true);
  }
  Status writeVelocity(int parameter, std::span<const std::byte> dense) final {
    SYNCLINE_TRY_GET(data, optimizer.velocityOf(parameter));
    return transfer(parameter, *data, const_cast<std::byte *>(dense.data()), dense.size(),
                    /*toHost=*/false);
  }

  void setEvaluation(bool evaluates) final { program.isEvaluation = evaluates; }
  Status weighLoss(double weight) final {
    program.lossWeight = weight;
    return Status::ok();
  }

protected:
  PreparedExecutable(const ExecutableOptions &options, Optimizer::Allocate allocateState)
      : program(options), steps(program),
        optimizer(program.table, options.ranks, std::move(allocateState)) {}

  /// Copies between the host's dense memory and `data`, which holds the tensor in its layout, and
  /// waits for the copy.
  virtual Status transfer(int tensor, std::byte *data, std::byte *host, std::size_t bytes,
                          bool toHost) = 0;
  /// What makes the mean over the ranks of a sum of gradients.
  double meanScale() const { return 1.0 / program.options.ranks / program.lossScale; }

  Program program;
  Builder steps;
  Optimizer optimizer;
};

} // namespace syncline::core
