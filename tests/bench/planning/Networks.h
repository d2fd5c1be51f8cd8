// Networks: gradients of well-known models in backward order, for the planning bench.
#pragma once

#include "tests/support/ProblemBuilder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// Gradients, ready in proportion to their work; dense layers and convolutions can travel by
/// factors, biases ride.
struct Network {
  std::string name;
  std::vector<Gradient> gradients;
};

/// `batch` samples a rank. VGG-16: 32 gradients. ResNet-50 and -152: 161 and 467. Decoders of 24
/// blocks and of 96, as GPT-3's: 291 and 1,155.
Network vgg16(std::int64_t batch);
Network resNet(int depth, std::int64_t batch);
Network transformer(int blocks, std::int64_t width, std::int64_t tokens);

/// `count` gradients with ResNet's mix of sizes, one in three of which can travel by factors.
Network synthetic(std::size_t count);

} // namespace syncline::solver
