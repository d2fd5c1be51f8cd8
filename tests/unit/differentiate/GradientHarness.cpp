// Central differences against differentiate.
#include "tests/unit/differentiate/GradientHarness.h"

#include "passes/Passes.h"
#include "passes/RegisterAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace mlir;
using namespace syncline;
using namespace syncline::reference;
using syncline::nn::DimsRef;

namespace syncline::test {

std::string type(DimsRef shape) {
  return "tensor<" + (shape.empty() ? "" : nn::toString(shape) + "x") + "f64>";
}

std::string parameter(llvm::StringRef name, DimsRef shape) {
  return "%" + name.str() + " = nn.parameter \"" + name.str() + "\" at 0 : " + type(shape) + "\n";
}

std::string array(DimsRef values) {
  std::string text = "array<i64";
  for (auto [i, value] : llvm::enumerate(values))
    text += (i ? ", " : ": ") + std::to_string(value);
  return text + ">";
}

nn::Dims randomShape(std::mt19937 &random, std::size_t rank, int limit) {
  nn::Dims shape;
  for (std::size_t i = 0; i < rank; ++i)
    shape.push_back(std::uniform_int_distribution(1, limit)(random));
  return shape;
}

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

OwningOpRef<ModuleOp> parseStep(MLIRContext &context, const std::string &text) {
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  return module;
}

static Tensor randomTensor(llvm::StringRef name, RankedTensorType type, std::mt19937 &random) {
  Tensor tensor(type.getShape());
  if (name.starts_with("distinct")) {
    std::iota(tensor.values.begin(), tensor.values.end(), -double(tensor.values.size()) / 2);
    std::shuffle(tensor.values.begin(), tensor.values.end(), random);
    for (double &value : tensor.values)
      value /= 8;
    return tensor;
  }
  double low = name.starts_with("positive") ? 0.5 : -1.0;
  for (double &value : tensor.values)
    value = isa<IntegerType>(type.getElementType())
                ? double(random() % 2) // a class index
                : std::uniform_real_distribution(low, low == 0.5 ? 1.5 : 1.0)(random);
  return tensor;
}

static Bindings randomBindings(nn::StepOp step) {
  std::mt19937 random(17);
  Bindings bindings;
  for (Operation &op : step.getBody().front()) {
    if (!isa<nn::InputOp, nn::TargetOp, nn::ParameterOp, nn::StateOp>(op))
      continue;
    StringRef name = op.getAttrOfType<StringAttr>("name").getValue();
    bindings[name] = randomTensor(name, cast<RankedTensorType>(op.getResult(0).getType()), random);
  }
  return bindings;
}

static StepResult run(ModuleOp module, const Bindings &bindings) {
  llvm::Expected<StepResult> result = interpret(*module.getOps<nn::StepOp>().begin(), bindings);
  EXPECT_TRUE(bool(result)) << llvm::toString(result.takeError());
  return result ? std::move(*result) : StepResult();
}

/// (loss(v + h) - loss(v - h)) / 2h for one element.
static double centralDifference(ModuleOp forward, Bindings &bindings, double &element) {
  const double h = 1e-5, old = element;
  element = old + h;
  double above = run(forward, bindings).loss;
  element = old - h;
  double below = run(forward, bindings).loss;
  element = old;
  return (above - below) / (2 * h);
}

static void expectNear(const Bindings &expected, const Bindings &actual, const char *what) {
  ASSERT_EQ(expected.size(), actual.size()) << what;
  for (const auto &entry : expected) {
    auto found = actual.find(entry.getKey());
    ASSERT_NE(found, actual.end()) << what << ": " << entry.getKey().str();
    ASSERT_EQ(entry.second.shape, found->second.shape);
    for (std::size_t i = 0; i < entry.second.values.size(); ++i)
      EXPECT_NEAR(entry.second.values[i], found->second.values[i], 1e-7)
          << what << ": " << entry.getKey().str() << "[" << i << "]";
  }
}

static bool applyPasses(ModuleOp module, llvm::ArrayRef<std::unique_ptr<Pass> (*)()> passes) {
  PassManager manager(module.getContext());
  for (auto make : passes)
    manager.addNestedPass<nn::StepOp>(make());
  return succeeded(manager.run(module));
}

void expectRightGradientsOfStep(const std::string &text) {
  auto context = makeContext();
  auto forward = parseStep(*context, text);
  ASSERT_TRUE(forward);
  Bindings bindings = randomBindings(*forward->getOps<nn::StepOp>().begin());
  OwningOpRef<ModuleOp> step = forward->clone();
  ASSERT_TRUE(applyPasses(*step, {createDifferentiate})) << text;
  StepResult result = run(*step, bindings);

  Bindings differences;
  for (const auto &entry : result.gradients) {
    Tensor &own = bindings[entry.getKey()];
    Tensor &difference = differences[entry.getKey()] = Tensor(own.shape);
    for (std::size_t i = 0; i < own.values.size(); ++i)
      difference.values[i] = centralDifference(*forward, bindings, own.values[i]);
  }
  expectNear(differences, result.gradients, "differentiate");

  ASSERT_TRUE(applyPasses(*step, {createFuseActivations, createFusePointwise})) << text;
  StepResult fused = run(*step, bindings);
  EXPECT_NEAR(result.loss, fused.loss, 1e-12);
  expectNear(result.gradients, fused.gradients, "gradients after fusion");
  expectNear(result.states, fused.states, "states after fusion");
  expectNear(result.outputs, fused.outputs, "outputs after fusion");
  if (testing::Test::HasFailure())
    step->dump();
}

void expectRightGradients(const std::string &body, DimsRef shape) {
  std::string result = type(shape);
  expectRightGradientsOfStep("nn.step @s batch 2 {\n" + body + "%t = nn.target \"t\" : " + result +
                             "\n%l, %d = nn.mean_squared_error %y, %t : (" + result + ", " +
                             result + ") -> (tensor<f64>, " + result +
                             ")\nnn.loss %l : tensor<f64>\n}\n");
}

} // namespace syncline::test
