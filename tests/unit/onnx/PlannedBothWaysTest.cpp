// A model's step and the layers that --plan-only reads off it have the same gradients at the same
// times, and plans of the same messages and seconds, over random graphs.
#include "RandomGraph.h"
#include "TestModel.h"

#include "frontend/driver/StepTrace.h"
#include "frontend/ir/TraceModule.h"
#include "frontend/onnx/ImportLayers.h"
#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"
#include "passes/RegisterAll.h"
#include "passes/cost/Timeline.h"
#include "passes/merge/TimedFactors.h"
#include "tests/support/Depth.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <set>

using namespace syncline;
using namespace syncline::frontend;
using namespace syncline::test;

namespace {

constexpr double tolerance = 1e-9, ofPlans = 0.01;

/// Two hosts, GPUs on a slow network, and those of nodes like the DGX A100 (samples/clusters). Next
/// to fast devices the loss and what is made of gathered factors take a part of the step.
constexpr const char *clusters[] = {
    R"(#cluster.spec<name = "hosts", ranks = 2, device = <compute = 1.0e9, memory = 1.0e8,
       launchOverhead = 1.0e-6>, link = <alpha = 1.0e-3, beta = 1.0e-9, gamma = 0.0>>)",
    R"(#cluster.spec<name = "GPUs", ranks = 4, device = <compute = 1.0e13, memory = 1.0e12,
       launchOverhead = 5.0e-6>, link = <alpha = 5.0e-5, beta = 8.0e-10, gamma = 0.0>>)",
    R"(#cluster.spec<name = "nodes", ranks = 32, devicesPerNode = 8, cardsPerNode = 8,
       device = <compute = 1.95e13, memory = 2.039e12, launchOverhead = 5.0e-6>,
       link = <alpha = 5.0e-6, beta = 4.0e-11, gamma = 1.5e-12>,
       inside = <alpha = 3.0e-6, beta = 3.3e-12, gamma = 1.5e-12>>)"};

void expectSame(const cost::Timeline &step, const cost::Timeline &trace) {
  EXPECT_NEAR(step.forward, trace.forward, tolerance * step.backwardEnd);
  EXPECT_NEAR(step.backwardEnd, trace.backwardEnd, tolerance * step.backwardEnd);
  EXPECT_NEAR(step.updates, trace.updates, tolerance * step.updates);
  ASSERT_EQ(step.gradients.size(), trace.gradients.size());
  const auto own = merge::timedFactors(step, {}), read = merge::timedFactors(trace, {});
  for (std::size_t k = 0; k < own.size(); ++k) {
    const cost::ReadyGradient &a = step.gradients[k], &b = trace.gradients[k];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.bytes, b.bytes);
    EXPECT_NEAR(a.ready, b.ready, tolerance * step.backwardEnd) << a.name;
    EXPECT_NEAR(a.updating, b.updating, tolerance * a.updating) << a.name;
    ASSERT_EQ(bool(own[k]), bool(read[k])) << a.name;
    if (!own[k])
      continue;
    EXPECT_EQ(own[k]->scheme, read[k]->scheme);
    EXPECT_EQ(own[k]->bytes, read[k]->bytes);
    EXPECT_NEAR(own[k]->reconstruct, read[k]->reconstruct, tolerance * own[k]->reconstruct);
  }
}

/// Plans the module by the whole pipeline.
struct Planned {
  std::vector<std::pair<std::vector<std::int64_t>, Scheme>> messages;
  double backward = 0, step = 0;

  explicit Planned(mlir::ModuleOp module) {
    const Status planned = runPasses(module, buildPipeline, {});
    EXPECT_TRUE(planned) << planned.message();
    if (!planned)
      return;
    for (sync::MessageAttr message :
         firstOf<sync::SolutionOp>(module).getMessages().getAsRange<sync::MessageAttr>())
      messages.emplace_back(message.getLayers().vec(), message.getScheme());
    auto prediction = firstOf<sync::PredictionOp>(module);
    backward = prediction.getBackwardEnd().convertToDouble();
    step = prediction.getStep().convertToDouble();
  }
};

class BothWays {
public:
  BothWays() : context(registry(), mlir::MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }

  /// Whether the model has a step that trains something, which is then compared.
  bool compare(const std::string &path, const ImportOptions &options) {
    Result<ImportedModel> imported = importOnnx(path, options, context);
    return imported && llvm::all_of(clusters, [&](const char *spec) {
             imported->module.get()->setAttr(cluster::specAttr,
                                             mlir::parseAttribute(spec, &context));
             return compare(path, *imported->module);
           });
  }

private:
  bool compare(const std::string &path, mlir::ModuleOp model) {
    mlir::OwningOpRef<mlir::ModuleOp> module = model.clone(), whole = model.clone();
    if (!runPasses(*module, buildTimedStep, {}))
      return false;
    auto step = *module->getOps<nn::StepOp>().begin();
    const auto timeline = cost::timelineOf(step);
    EXPECT_TRUE(mlir::succeeded(timeline));
    const files::LayerTrace trace = driver::traceOfStep(step, 1);
    std::set<std::string> names;
    for (const files::TraceLayer &layer : trace.layers)
      EXPECT_TRUE(names.insert(layer.name).second) << layer.name << " stands there twice";
    mlir::OwningOpRef<mlir::ModuleOp> layers = traceModule(trace, path, context);
    (*layers)->setAttr(cluster::specAttr, model->getAttr(cluster::specAttr));
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*layers)));
    expectSame(*timeline, cost::timelineOf(firstOf<sync::TraceOp>(*layers)));
    const Planned own(*whole), read(*layers);
    EXPECT_EQ(own.messages, read.messages);
    EXPECT_NEAR(own.step, read.step, ofPlans * own.step);
    EXPECT_NEAR(own.backward, read.backward, ofPlans * own.backward);
    gathers |= llvm::any_of(own.messages, [](auto &message) { return isGathered(message.second); });
    return true;
  }

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry all;
    registerAllDialects(all);
    return all;
  }

  mlir::MLIRContext context;

public:
  bool gathers = false; ///< whether a plan has sent anything in place of a gradient
};

} // namespace

TEST(PlannedBothWays, RandomGraphs) {
  const int graphs = repeat(250, 10000);
  const std::string path = scratchPath("both-ways.onnx");
  BothWays both;
  int compared = 0;
  for (int seed = 0; seed < graphs; ++seed) {
    const std::string graph = RandomGraph(seed).write();
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + graph);
    std::ofstream(path, std::ios::binary) << parseModel(13, graph).SerializeAsString();
    ImportOptions options = meanSquare();
    options.batch = 4;
    compared += both.compare(path, options);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GE(compared, graphs / 5);
  RecordProperty("compared", compared);
}

// Biases are carried by their product's factors, a table's gradient travels as rows, and a tied
// table has both.
TEST(PlannedBothWays, FactorsAndRows) {
  const std::string path = scratchPath("both-ways.onnx");
  for (const char *head : {"z = Gemm<transB = 1>(f, table, b)", "z = Gemm(f, w, b)"}) {
    std::ofstream(path, std::ios::binary)
        << parseModel(13, std::string("agraph (int64[N,3] ids) => (float[N,7] z) {\n"
                                      "table = RandomNormal <shape = [7, 5]> ()\n"
                                      "w = RandomNormal <shape = [5, 7]> ()\n"
                                      "b = RandomNormal <shape = [7]> ()\n"
                                      "e = Gather(table, ids)\n"
                                      "m = ReduceMean <axes = [1], keepdims = 0> (e)\n"
                                      "f = Tanh(m)\n") +
                              head + "\n}")
               .SerializeAsString();
    ImportOptions options;
    options.batch = 4;
    EXPECT_TRUE(BothWays().compare(path, options)) << head;
  }
}

// A rank makes its own share of a gathered gradient behind the message, by layers too.
TEST(PlannedBothWays, SharesOfGatheredGradients) {
  const std::string path = scratchPath("both-ways.onnx");
  std::ofstream(path, std::ios::binary)
      << parseModel(13, "agraph (float[N,256] x) => (float[N,128] y) {\n"
                        "w = RandomNormal <shape = [256, 128]> ()\n"
                        "b = RandomNormal <shape = [128]> ()\n"
                        "y = Gemm(x, w, b)\n}")
             .SerializeAsString();
  ImportOptions options;
  options.batch = 4;
  BothWays both;
  EXPECT_TRUE(both.compare(path, options));
  EXPECT_TRUE(both.gathers);
}
