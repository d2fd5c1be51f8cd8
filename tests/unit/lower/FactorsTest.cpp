// Which gradients have factors, and who rides with them.
#include "passes/merge/Factors.h"
#include "tests/unit/cost/Parsed.h"

#include <gtest/gtest.h>

#include <memory>

namespace syncline::merge {
namespace {

/// A step of 4 samples with some inputs and `body` at its end.
class Step {
public:
  explicit Step(const std::string &body)
      : parsed(std::make_unique<Parsed>(R"(nn.step @s batch 4 {
          %x = nn.input "x" : tensor<4x8xf32>
          %dy = nn.input "dy" : tensor<4x2xf32>
          %dys = nn.input "dys" : tensor<4x3x2xf32>
          %image = nn.input "image" : tensor<4x2x6xf32>
          %dimage = nn.input "dimage" : tensor<4x4x3xf32>
          %w = nn.parameter "w" at 0 : tensor<4x8xf32>
          %ids = nn.input "ids" : tensor<4x3xi64>
        )" + body + "}")) {
    EXPECT_TRUE(parsed->module) << parsed->error;
  }

  sync::GradientOp gradient(llvm::StringRef parameter) {
    for (auto gradient : parsed->step().getOps<sync::GradientOp>())
      if (gradient.getParameter() == parameter)
        return gradient;
    ADD_FAILURE() << "no gradient of " << parameter.str();
    return {};
  }

  std::optional<FactorPair> factors(llvm::StringRef parameter) {
    sync::GradientOp found = gradient(parameter);
    return found ? factorsOf(found) : std::nullopt;
  }

  std::vector<std::string> piggybacks(llvm::StringRef parameter) {
    std::vector<std::string> names;
    auto pair = factors(parameter);
    EXPECT_TRUE(pair.has_value());
    if (pair)
      for (sync::GradientOp piggyback : Piggybacks(parsed->step()).of(gradient(parameter), *pair)) {
        EXPECT_TRUE(isPiggybackOf(piggyback, *pair));
        names.push_back(piggyback.getParameter().str());
      }
    return names;
  }

private:
  std::unique_ptr<Parsed> parsed;
};

using Names = std::vector<std::string>;

} // namespace

// A product that contracts dimension 0 of both operands; bytes are those of both: 4·(2 + 8) floats.
TEST(Factors, OfAMatrixProduct) {
  Step step(R"(
    %p = nn.matmul %dy, %x {transpose_a} : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %g = sync.gradient %p "g" : tensor<2x8xf32>)");
  auto pair = step.factors("g");
  ASSERT_TRUE(pair.has_value());
  EXPECT_TRUE(isa<nn::MatmulOp>(pair->product));
  EXPECT_EQ(pair->left, pair->product->getOperand(0));
  EXPECT_EQ(pair->right, pair->product->getOperand(1));
  EXPECT_EQ(pair->bytes, 4 * (2 + 8) * 4);
  EXPECT_EQ(pair->scheme(), cluster::Scheme::factors);
  EXPECT_EQ(pair->share(), 1);
  EXPECT_TRUE(step.piggybacks("g").empty());
}

// Reshapes and transposes of the result change nothing.
TEST(Factors, ThroughCopiesOfTheResult) {
  Step step(R"(
    %p = nn.matmul %dy, %x {transpose_a} : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %t = nn.transpose %p {permutation = array<i64: 1, 0>} : (tensor<2x8xf32>) -> tensor<8x2xf32>
    %r = nn.reshape %t : (tensor<8x2xf32>) -> tensor<16xf32>
    %g = sync.gradient %r "g" : tensor<16xf32>)");
  EXPECT_TRUE(step.factors("g").has_value());
}

// The sums of an embedding's rows: 12 numbers of 8 bytes, and behind them 12 rows of 2 floats. One
// more rank's rows are 192 bytes beside a table of 384. A sum over the samples rides with the rows.
TEST(Factors, OfAnEmbedding) {
  Step step(R"(
    %p = nn.embedding_backward %ids, %dys : (tensor<4x3xi64>, tensor<4x3x2xf32>) -> tensor<48x2xf32>
    %places = nn.reduce sum %dys {axes = array<i64: 0>} : (tensor<4x3x2xf32>) -> tensor<3x2xf32>
    %g = sync.gradient %p "g" : tensor<48x2xf32>
    %h = sync.gradient %places "places" : tensor<3x2xf32>)");
  auto pair = step.factors("g");
  ASSERT_TRUE(pair.has_value());
  EXPECT_EQ(pair->scheme(), cluster::Scheme::sparse);
  EXPECT_EQ(pair->bytes, 12 * (8 + 2 * 4));
  EXPECT_DOUBLE_EQ(pair->share(), 192.0 / (192 + 384));
  EXPECT_EQ(step.piggybacks("g"), Names{"places"});
}

// A tied table's gradient has another part, which no rows bring; stored numbers may change.
TEST(Factors, NotOfATiedEmbedding) {
  Step step(R"(
    %p = nn.embedding_backward %ids, %dys : (tensor<4x3xi64>, tensor<4x3x2xf32>) -> tensor<2x2xf32>
    %h = nn.matmul %dy, %dy {transpose_a} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
    %sum = nn.binary add %p, %h : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %onto = nn.embedding_backward %ids, %dys onto %h : (tensor<4x3xi64>, tensor<4x3x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %known = nn.constant dense<1> : tensor<4x3xi64>
    %q = nn.embedding_backward %known, %dys : (tensor<4x3xi64>, tensor<4x3x2xf32>) -> tensor<2x2xf32>
    %a = sync.gradient %sum "tied" : tensor<2x2xf32>
    %b = sync.gradient %q "of known rows" : tensor<2x2xf32>
    %c = sync.gradient %onto "in place" : tensor<2x2xf32>)");
  EXPECT_FALSE(step.factors("tied").has_value());
  EXPECT_FALSE(step.factors("in place").has_value());
  EXPECT_FALSE(step.factors("of known rows").has_value());
}

// A convolution's weights, grouped or not, with the bias that comes from the same operation.
TEST(Factors, OfAConvolution) {
  Step step(R"(
    %dw, %db = nn.conv_backward_weights %image, %dimage {strides = array<i64: 2>, dilations = array<i64: 1>,
      pads_begin = array<i64: 1>, pads_end = array<i64: 0>, groups = 2 : i64}
      : (tensor<4x2x6xf32>, tensor<4x4x3xf32>) -> (tensor<4x1x3xf32>, tensor<4xf32>)
    %gw = sync.gradient %dw "w" : tensor<4x1x3xf32>
    %gb = sync.gradient %db "b" : tensor<4xf32>)");
  ASSERT_TRUE(step.factors("w").has_value());
  EXPECT_EQ(step.factors("w")->bytes, 4 * (12 + 12) * 4);
  EXPECT_EQ(step.piggybacks("w"), Names{"b"});
  EXPECT_FALSE(step.factors("b").has_value()); // a sum is no product
}

// Sums of dy over its samples ride, whatever dy's shape was before it was folded to a matrix.
TEST(Factors, SumsOfDyRide) {
  Step step(R"(
    %d = nn.reshape %dys : (tensor<4x3x2xf32>) -> tensor<12x2xf32>
    %xs = nn.input "xs" : tensor<12x8xf32>
    %p = nn.matmul %d, %xs {transpose_a} : (tensor<12x2xf32>, tensor<12x8xf32>) -> tensor<2x8xf32>
    %whole = nn.reduce sum %dys {axes = array<i64: 0, 1>} : (tensor<4x3x2xf32>) -> tensor<2xf32>
    %samples = nn.reduce sum %dys {axes = array<i64: 0>} : (tensor<4x3x2xf32>) -> tensor<3x2xf32>
    %tokens = nn.reduce sum %dys {axes = array<i64: 1>} : (tensor<4x3x2xf32>) -> tensor<4x2xf32>
    %mean = nn.reduce mean %dys {axes = array<i64: 0, 1>} : (tensor<4x3x2xf32>) -> tensor<2xf32>
    %other = nn.reduce sum %dy {axes = array<i64: 0>} : (tensor<4x2xf32>) -> tensor<2xf32>
    %row = nn.reshape %whole : (tensor<2xf32>) -> tensor<1x2xf32>
    %a = sync.gradient %p "weight" : tensor<2x8xf32>
    %b = sync.gradient %row "bias" : tensor<1x2xf32>
    %c = sync.gradient %samples "bias of tokens" : tensor<3x2xf32>
    %e = sync.gradient %tokens "not over samples" : tensor<4x2xf32>
    %f = sync.gradient %mean "no sum" : tensor<2xf32>
    %g = sync.gradient %other "of another dy" : tensor<2xf32>)");
  EXPECT_EQ(step.piggybacks("weight"), (Names{"bias", "bias of tokens"}));
}

// A weight that is used twice has a sum of products; a product that contracts anything else, adds
// a bias or multiplies a stored tensor cannot be reconstructed from what was gathered.
TEST(Factors, NotOfOtherGradients) {
  Step step(R"(
    %p = nn.matmul %dy, %x {transpose_a} : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %tied = nn.binary add %p, %p : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %features = nn.matmul %x, %w {transpose_b} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
    %x1 = nn.input "x1" : tensor<8xf32>
    %biased = nn.matmul %x, %x bias %x1 {transpose_a} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %stored = nn.matmul %dy, %w {transpose_a} : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = sync.gradient %tied "tied" : tensor<2x8xf32>
    %2 = sync.gradient %features "features" : tensor<4x4xf32>
    %3 = sync.gradient %biased "biased" : tensor<8x8xf32>
    %4 = sync.gradient %stored "stored" : tensor<2x8xf32>)");
  for (const char *name : {"tied", "features", "biased", "stored"})
    EXPECT_FALSE(step.factors(name).has_value()) << name;
}

} // namespace syncline::merge
