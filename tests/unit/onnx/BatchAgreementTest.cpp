// A batch of samples has the mean of the losses that its samples have alone, over random graphs.
#include "RandomGraph.h"
#include "TestModel.h"

#include "tests/reference/Interpreter.h"
#include "tests/support/Depth.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <fstream>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

constexpr std::int64_t batch = 4;

class Agreement {
public:
  explicit Agreement(const std::string &graph) {
    path = scratchPath("agreement.onnx");
    std::ofstream(path, std::ios::binary) << parseModel(13, graph).SerializeAsString();
  }

  Result<ImportedModel> imported(std::int64_t samples) {
    static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    ImportOptions options = meanSquare();
    options.batch = samples;
    return importOnnx(path, options, context);
  }

  /// The loss of `samples` samples from number `first` on.
  static double loss(ImportedModel &model, std::int64_t first, std::int64_t samples) {
    auto step = *model.module->getOps<nn::StepOp>().begin();
    reference::Bindings bindings;
    step.walk([&](mlir::Operation *op) {
      if (!mlir::isa<nn::InputOp, nn::TargetOp, nn::ParameterOp>(op))
        return;
      const std::string name = op->getAttrOfType<mlir::StringAttr>("name").getValue().str();
      reference::Tensor tensor(
          mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType()).getShape());
      const auto size = static_cast<std::int64_t>(tensor.values.size());
      const std::int64_t from =
          mlir::isa<nn::ParameterOp>(op) ? 100000 + 37 * name.back() : first * (size / samples);
      for (std::int64_t i = 0; i < size; ++i)
        tensor.values[i] = std::sin(static_cast<double>(from + i) * 1.7 + name.size());
      bindings[name] = tensor;
    });
    llvm::Expected<reference::StepResult> result = reference::interpret(step, bindings);
    EXPECT_TRUE(bool(result)) << (result ? "" : llvm::toString(result.takeError()));
    return result ? result->loss : NAN;
  }

private:
  std::string path;
};

} // namespace

TEST(BatchAgreement, LossIsTheMeanOfTheSamples) {
  const int graphs = repeat(250, 10000);
  int compared = 0;
  for (int seed = 0; seed < graphs; ++seed) {
    const std::string graph = RandomGraph(seed).write();
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + graph);
    Agreement agreement(graph);
    Result<ImportedModel> whole = agreement.imported(batch), one = agreement.imported(1);
    ASSERT_TRUE(whole || whole.status().exitCode() == 1) << whole.status().message();
    ASSERT_TRUE(one || one.status().exitCode() == 1) << one.status().message();
    if (!whole || !one)
      continue;
    double mean = 0;
    for (std::int64_t sample = 0; sample < batch; ++sample)
      mean += Agreement::loss(*one, sample, 1) / batch;
    ASSERT_NEAR(Agreement::loss(*whole, 0, batch), mean, 1e-9 * (1 + std::abs(mean)));
    ++compared;
  }
  // Most of the others are refused: they mix samples, or their literals hold on to a batch.
  EXPECT_GE(compared, graphs / 5);
  RecordProperty("compared", compared);
}
