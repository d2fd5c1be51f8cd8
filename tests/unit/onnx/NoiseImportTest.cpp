// Random numbers of a step: their shapes, distributions, and what evaluation computes with.
#include "TestModel.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

using namespace syncline;
using namespace syncline::test;

static const std::string noiseNote = "draws new numbers in each step; evaluation takes their mean";

static std::string noise(int distribution, const char *first, const char *second,
                         const char *evaluated) {
  return "nn.noise {distribution = " + std::to_string(distribution) +
         " : i64, evaluated = " + evaluated + " : f64, first = " + first +
         " : f64, second = " + second + " : f64} : ";
}

static frontend::ImportOptions batchOf(std::int64_t batch, bool dropout = true) {
  frontend::ImportOptions options = meanSquare();
  options.batch = batch;
  options.dropout = dropout;
  return options;
}

TEST(NoiseImport, LikeAnOperand) {
  Outcome uniform = importNodes(13, "u = RandomUniformLike <low = -1.0, high = 3.0> (h) "
                                    "y = Mul(h, u)");
  EXPECT_TRUE(uniform.has(noise(0, "-1.000000e+00", "3.000000e+00", "1.000000e+00") +
                          "tensor<2x4x8x8xf32>"))
      << uniform.error << uniform.ir;
  Outcome normal = importNodes(13, "u = RandomNormalLike <mean = 0.5, scale = 2.0> (h) "
                                   "y = Add(h, u)");
  EXPECT_TRUE(normal.has(noise(1, "5.000000e-01", "2.000000e+00", "5.000000e-01")))
      << normal.error << normal.ir;
  ASSERT_EQ(normal.notes.size(), 1u);
  EXPECT_NE(normal.notes[0].find(noiseNote), std::string::npos) << normal.notes[0];
}

// The probability becomes what evaluation computes with, and the sum and its floor disappear.
TEST(NoiseImport, DropPathHasItsMeanInEvaluation) {
  const std::string path = "s = Shape(h) i = Constant <value_ints = [0]> () n = Gather(s, i) "
                           "o = Constant <value_ints = [1,1,1]> () d = Concat <axis = 0> (n, o) "
                           "z = ConstantOfShape(d) u = RandomUniformLike <dtype = 1> (z) "
                           "k = Constant <value_float = 0.9> () a = Add(k, u) f = Floor(a) "
                           "q = Div(h, k) y = Mul(q, f)";
  Outcome outcome = importNodes(13, path);
  EXPECT_TRUE(
      outcome.has(noise(2, "9.000000e-01", "0.000000e+00", "9.000000e-01") + "tensor<2x1x1x1xf32>"))
      << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.count("floor"), 0);
}

// A scalar that no list names is a number, as one that PyTorch's exporter lifts out of the nodes.
TEST(NoiseImport, ProbabilitiesMayBeInitializers) {
  frontend::ImportOptions options = batchOf(6);
  options.parameters = {{"w", {8, 8}}};
  const auto model = [](const char *reader) {
    return std::string("agraph (float[N,8] x) => (float[N,8] y) <float k = {0.75}> {"
                       " w = RandomNormal <shape = [8,8]> () h = MatMul(x, w)"
                       " u = RandomUniformLike(h) ") +
           reader + " q = Div(h, k) y = Mul(q, f) }";
  };
  Outcome floored = importText(13, model("a = Add(u, k) f = Floor(a)"), options);
  EXPECT_TRUE(floored.has(noise(2, "7.500000e-01", "0.000000e+00", "7.500000e-01")))
      << floored.error << floored.ir;
  Outcome less =
      importText(15, model("p = CastLike(k, u) b = Less(u, p) f = CastLike(b, h)"), options);
  EXPECT_TRUE(less.has(noise(2, "7.500000e-01", "0.000000e+00", "7.500000e-01")))
      << less.error << less.ir;
}

// Numbers that something else reads too stay what they are.
TEST(NoiseImport, SharedNumbersAreNotReplaced) {
  Outcome outcome = importNodes(13, "u = RandomUniformLike(h) k = Constant <value_float = 0.9> () "
                                    "a = Add(k, u) f = Floor(a) q = Mul(h, u) y = Mul(q, f)");
  EXPECT_TRUE(outcome.has("distribution = 0")) << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.count("floor"), 1);
}

TEST(NoiseImport, ComparisonsAreDraws) {
  for (const auto &[op, first] :
       {std::pair("Less(u, k)", "2.500000e-01"), std::pair("Greater(k, u)", "2.500000e-01"),
        std::pair("Less(k, u)", "7.500000e-01"),
        std::pair("GreaterOrEqual(u, k)", "7.500000e-01")}) {
    Outcome outcome = importNodes(16, std::string("u = RandomUniformLike(h) "
                                                  "k = Constant <value_float = 0.25> () b = ") +
                                          op + " c = Cast <to = 1> (b) y = Mul(h, c)");
    EXPECT_TRUE(outcome.has(noise(2, first, "0.000000e+00", first)))
        << op << outcome.error << outcome.ir;
  }
}

TEST(NoiseImport, BernoulliOfKnownAndComputedProbabilities) {
  const std::string known = "k = Constant <value = float[2,4,8,8] {}> () ";
  Outcome one = importNodes(15, "s = Shape(h) p = ConstantOfShape <value = float[1] {0.75}> (s) "
                                "b = Bernoulli(p) y = Mul(h, b)");
  EXPECT_TRUE(
      one.has(noise(2, "7.500000e-01", "0.000000e+00", "7.500000e-01") + "tensor<2x4x8x8xf32>"))
      << one.error << one.ir;
  Outcome computed = importNodes(15, "p = Sigmoid(h) b = Bernoulli(p) y = Mul(h, b)");
  EXPECT_TRUE(computed.has(noise(0, "0.000000e+00", "1.000000e+00", "5.000000e-01")))
      << computed.error << computed.ir;
  Outcome truth = importNodes(15, "p = Sigmoid(h) b = Bernoulli <dtype = 9> (p) n = Not(b) "
                                  "c = Cast <to = 1> (n) y = Mul(h, c)");
  EXPECT_EQ(truth.error, "");
}

TEST(NoiseImport, BadNumbersAreRefused) {
  expectError(importNodes(15, "p = Constant <value_floats = [0.5, 1.5]> () b = Bernoulli(p) "
                              "s = ReduceSum(b) y = Mul(h, s)"),
              "node that makes 'b' (Bernoulli): expected probabilities in [0, 1], got 1.5");
  expectError(importNodes(15, "p = Constant <value_float = -0.25> () b = Bernoulli(p) "
                              "y = Mul(h, b)"),
              "expected probabilities in [0, 1], got -0.25");
  expectError(importNodes(15, "b = Bernoulli <dtype = 8> (h) y = Mul(h, b)"),
              "cannot make elements of string");
  expectError(importNodes(13, "u = RandomUniformLike <low = 2.0> (h) y = Mul(h, u)"),
              "expected finite numbers with low <= high, got 2 and 1");
  expectError(importNodes(13, "u = RandomNormalLike <scale = -1.0> (h) y = Mul(h, u)"),
              "expected a finite mean and a scale that is not negative, got 0 and -1");
  expectError(importNodes(13, "u = RandomNormalLike <dtype = 7> (h) y = Mul(h, u)"),
              "expected a floating-point element type, got int64");
  expectError(importNodes(13, "u = RandomNormalLike <scale = \"a\"> (h) y = Mul(h, u)"),
              "attribute 'scale': expected float, got string");
}

TEST(NoiseImport, SeedsOfTheFileAreNotUsed) {
  Outcome outcome = importNodes(13, "u = RandomUniformLike <seed = 7.0> (h) y = Mul(h, u)");
  ASSERT_EQ(outcome.notes.size(), 2u);
  EXPECT_NE(outcome.notes[0].find("its 'seed' is not used: numbers depend on the run's seed"),
            std::string::npos)
      << outcome.notes[0];
}

// A generator of fixed shape is a parameter without values, unless nothing could train it.
TEST(NoiseImport, GeneratorsThatAreOnlyRoundedAreNoise) {
  const char *const graph = "agraph (float[3,8] x) => (float[3,5] y) {"
                            " w = RandomNormal <shape = [8,5]> () h = MatMul(x, w)"
                            " u = RandomUniform <shape = [3,1]> ()"
                            " k = Constant <value_float = 0.5> () a = Add(k, u) f = Floor(a)"
                            " q = Div(h, k) y = Mul(q, f) }";
  Outcome outcome = importText(13, graph, batchOf(6));
  EXPECT_TRUE(outcome.has("evaluated = 5.000000e-01 : f64, first = 5.000000e-01 : f64, "
                          "second = 0.000000e+00 : f64} : tensor<6x1xf32>"))
      << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.count("nn.parameter"), 1);
}

TEST(NoiseImport, LikeAFixedShapeBehindACast) {
  const char *const graph = "agraph (float[3,8] x) => (float[3,5] y) {"
                            " w = RandomNormal <shape = [8,5]> () h = MatMul(x, w)"
                            " s = Constant <value_ints = [3,1]> () z = ConstantOfShape(s)"
                            " c = Cast <to = 1> (z) u = RandomUniformLike(c) y = Mul(h, u) }";
  Outcome outcome = importText(13, graph, batchOf(6));
  EXPECT_TRUE(outcome.has("second = 1.000000e+00 : f64} : tensor<6x1xf32>"))
      << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.count("nn.parameter"), 1);
}

TEST(NoiseImport, GeneratorsOfTheFilesBatchAreNoise) {
  const char *const graph = "agraph (float[3,8] x) => (float[3,5] y) {"
                            " w = RandomNormal <shape = [8,5]> () h = MatMul(x, w)"
                            " u = RandomNormal <shape = [3,5]> () y = Add(h, u) }";
  Outcome outcome = importText(13, graph, batchOf(6));
  EXPECT_TRUE(outcome.has("second = 1.000000e+00 : f64} : tensor<6x5xf32>"))
      << outcome.error << outcome.ir;
  const char *const weights = "agraph (float[8,8] x) => (float[8,5] y) {"
                              " w = RandomNormal <shape = [8,5]> () y = MatMul(x, w) }";
  EXPECT_EQ(importText(13, weights, meanSquare()).count("nn.noise"), 0);
}

TEST(NoiseImport, WithoutDropoutNoiseIsItsMean) {
  const char *const graph = "agraph (float[N,8] x) => (float[N,8] y) {"
                            " w = RandomNormal <shape = [8,8]> () h = MatMul(x, w)"
                            " u = RandomUniformLike <low = 1.0, high = 2.0> (h) y = Mul(h, u) }";
  Outcome outcome = importText(13, graph, batchOf(6, /*dropout=*/false));
  EXPECT_TRUE(outcome.has("nn.constant dense<1.500000e+00> : tensor<6x8xf32>"))
      << outcome.error << outcome.ir;
  EXPECT_EQ(outcome.count("nn.noise"), 0);
}

// Weights that are drawn as noise would be have another rank than samples, or no uniform numbers.
TEST(NoiseImport, ParametersAreNotTakenForNoise) {
  for (const char *nodes : {"s = Constant <value_ints = [2,2,16,8]> () q = Reshape(h, s) "
                            "p = RandomNormal <shape = [2,16,8]> () y = Add(q, p)",
                            "p = RandomNormal <shape = [2,4,8,8]> () s = Tanh(p) y = Add(h, s)"}) {
    const Outcome outcome = importNodes(13, nodes);
    EXPECT_EQ(outcome.error, "") << nodes;
    EXPECT_FALSE(outcome.has("nn.noise")) << outcome.ir;
  }
}
