// A small step for one test: declares tensors, builds, runs, compares.
#pragma once

#include "tests/conformance/Array.h"
#include "tests/conformance/Backends.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace syncline::conformance {

/// How operands reach the operation under test.
enum class Form {
  plain,   ///< dense, as from a data loader
  blocked, ///< in the layout that a convolution before it leaves, padded channels included
};

/// A bucket of `extent` bytes at the beginning of the gradients.
inline BucketInfo bucketBy(std::string_view scheme, std::int64_t extent, int id = 0,
                           int channel = 0) {
  return {.id = id, .channel = channel, .scheme = scheme, .offset = 0, .extent = extent};
}

class StepCase {
public:
  explicit StepCase(const Backend &backend, Form form = Form::plain, int ranks = 1, int threads = 1,
                    int rank = 0);

  StepBuilder &step() { return executable->builder(); }
  core::Executable &operator*() { return *executable; }

  /// An operand with these values; with Form::blocked and 3 to 5 dimensions it passes through a
  /// convolution that changes no value.
  Tensor operand(const Array &values);
  /// A plain operand, whatever the form.
  Tensor plainOperand(const Array &values, ElementType type = ElementType::f32);
  /// A trained parameter and the place of its gradient.
  std::pair<Tensor, Tensor> parameter(const std::string &name, const Array &values);
  /// Kept between steps.
  Tensor state(const std::string &name, const Array &values);
  /// A result, in the arena; channels rounded up to 16 as the compiler plans it.
  Tensor result(Shape shape, ElementType type = ElementType::f32);
  /// A result of f32 that has room for bf16 alone.
  Tensor rounded(Shape shape);

  /// Ends the building, loads values, runs one step.
  void run();
  /// These run a step in parts: what precedes the operations, and operations [first, last).
  void begin();
  void runOperations(int first, int last);
  /// Ends the building: the error it must give.
  std::string failure();
  /// The tensor's values after run().
  Array values(Tensor tensor);
  /// Conversions of layouts in all operations named so ("" for all).
  int reorders(const std::string &operation = "");
  /// The backend's.
  double rounding() const { return allowed; }

private:
  Tensor declare(const std::string &name, Space space, ElementType type, const Shape &shape,
                 bool isRounded = false);

  Form form;
  double allowed;
  std::unique_ptr<core::Executable> executable;
  std::map<int, Array> initial;
  std::map<Space, std::int64_t> used;
  int names = 0;
};

/// EXPECTs the tensor's values to be the expected ones within the relative tolerance, or what the
/// backend rounds.
void expectNear(StepCase &run, Tensor tensor, const Array &expected, double tolerance = 1e-5);

} // namespace syncline::conformance
