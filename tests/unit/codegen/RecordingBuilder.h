// A step builder that writes down what it is told, and how to load a step.so.
#pragma once

#include "syncline/Step.h"

#include <map>
#include <string>
#include <vector>

namespace syncline::test {

class RecordingBuilder final : public StepBuilder {
public:
  std::vector<std::string> calls;                 ///< "conv conv x conv.weight none conv"
  std::vector<std::string> names;                 ///< of tensors, by id
  std::map<std::string, PointwiseKernel> kernels; ///< by layer
  std::map<std::string, RoundedKernel> rounded;   ///< likewise
  std::vector<Shape> shapes;                      ///< of tensors, by id

  Tensor tensor(const TensorInfo &info) override;
  void bucket(const BucketInfo &info) override;
  void phase(std::string_view name) override;
#include "runtime/core/StepOperations.inc"
  void issue(int) override;
  void allGather(int) override;
  void gather(int, std::span<const Tensor>, std::span<const Tensor>) override;
  void wait(int) override;
  void update(int) override;
  void operations(const StepTables &tables, std::span<const Tensor> tensors) override;

private:
  void record(std::string text, std::initializer_list<Tensor> tensors);
  std::string nameOf(Tensor tensor) const {
    return tensor.isValid() ? names[static_cast<std::size_t>(tensor.id)] : "none";
  }
};

/// Loads the object (for the rest of the process) and lets it build. Fails the test when it cannot,
/// and where the object was compiled for another backend.
void loadStep(const std::string &object, StepBuilder &builder, const std::string &backend = "cpu");

} // namespace syncline::test
