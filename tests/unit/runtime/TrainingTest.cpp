// Whole runs of a small plan: numbers, files, and what happens when something is wrong.
#include "Processes.h"
#include "TinyPlan.h"

#include "runtime/data/RandomStream.h"
#include "runtime/transport/Socket.h"
#include "tests/support/WholeNpy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>

namespace syncline {
namespace {

using namespace data;
using namespace transport;
using namespace syncline::testing;

/// Classes by which of three directions a sample leans to: easy to learn.
void writeSamples(const TemporaryFolder &folder, const std::string &stem, int count, int seed) {
  RandomStream random(seed, stem);
  std::vector<float> x;
  std::vector<std::int64_t> y;
  for (int i = 0; i < count; ++i) {
    auto label = static_cast<std::int64_t>(random.below(1000000 + i, 3));
    for (int d = 0; d < 4; ++d)
      x.push_back(static_cast<float>(0.3 * random.normal(4 * i + d) + (d == label ? 2 : 0)));
    y.push_back(label);
  }
  ASSERT_TRUE(writeNpy(folder.file(stem + "x.npy"), ElementType::f32, {count, 4}, x.data()).isOk());
  ASSERT_TRUE(writeNpy(folder.file(stem + "y.npy"), ElementType::i64, {count}, y.data()).isOk());
}

std::string pairOf(const TemporaryFolder &folder, const std::string &stem) {
  return folder.file(stem + "x.npy") + "," + folder.file(stem + "y.npy");
}

struct Reference {
  std::vector<double> w, b, dw, db;
  double loss = 0;

  Reference() : w(12), b(3), dw(12), db(3) {
    for (int i = 0; i < 12; ++i)
      w[i] = 0.1 * (i % 5) - 0.2;
    for (int i = 0; i < 3; ++i)
      b[i] = 0.05 * i;
  }

  /// One step of plain SGD over the samples [first, first + n), by the book.
  void step(const Array &x, const Array &y, int first, int n, double rate) {
    dw.assign(12, 0);
    db.assign(3, 0);
    loss = 0;
    for (int s = first; s < first + n; ++s) {
      double logits[3], sum = 0;
      for (int c = 0; c < 3; ++c) {
        logits[c] = b[c];
        for (int d = 0; d < 4; ++d)
          logits[c] += x.at(s * 4 + d) * w[d * 3 + c];
        sum += std::exp(logits[c]);
      }
      auto label = static_cast<int>(y.at(s));
      loss += (std::log(sum) - logits[label]) / n;
      for (int c = 0; c < 3; ++c) {
        double g = (std::exp(logits[c]) / sum - (c == label)) / n;
        db[c] += g;
        for (int d = 0; d < 4; ++d)
          dw[d * 3 + c] += g * x.at(s * 4 + d);
      }
    }
    for (int i = 0; i < 12; ++i)
      w[i] -= rate * dw[i];
    for (int i = 0; i < 3; ++i)
      b[i] -= rate * db[i];
  }
};

void expectFile(const std::string &path, const std::vector<double> &wanted) {
  Result<Array> found = openNpy(path);
  ASSERT_TRUE(found.isOk()) << found.status().message();
  ASSERT_EQ(found->count(), static_cast<std::int64_t>(wanted.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(found->at(i), wanted[i], 2e-6) << path << " element " << i;
}

struct Setup {
  int ranks;
  const char *scheme;
};

class Training : public ::testing::TestWithParam<Setup> {};

// Losses, averaged gradients and parameters of 1, 2 and 4 ranks are those of the book's SGD over
// the global batch, also where gradients are rebuilt from factors or summed in parts; dumped names
// are escaped.
TEST_P(Training, MatchesTheBook) {
  const auto &[ranks, scheme] = GetParam();
  const int batch = 8 / ranks;
  TinyPlan plan(ranks, batch, "", scheme);
  TemporaryFolder files;
  writeSamples(files, "train", 20, 1);
  Outcome run = runToEnd({plan.folder(), "--data", pairOf(files, "train"), "--lr", "0.5", "--steps",
                          "3", "--dump", files.file("dump"), "--dump-steps", "0,2"});
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_NE(run.output.find("leaves out 4 of 20 samples"), std::string::npos) << run.output;
  Result<Array> x = openNpy(files.file("trainx.npy")), y = openNpy(files.file("trainy.npy"));
  Reference book;
  for (int step = 0; step < 3; ++step) {
    book.step(*x, *y, step % 2 * 8, 8, 0.5);
    if (step == 1)
      continue;
    std::string here = files.file("dump/step" + std::to_string(step));
    expectFile(here + "/loss.npy", {book.loss});
    expectFile(here + "/gradients/fc%2Fw.npy", book.dw);
    expectFile(here + "/gradients/fc%2Fb.npy", book.db);
    expectFile(here + "/parameters/fc%2Fw.npy", book.w);
    expectFile(here + "/parameters/fc%2Fb.npy", book.b);
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, Training,
                         ::testing::Values(Setup{1, "ring"}, Setup{2, "ring"}, Setup{4, "ring"},
                                           Setup{1, "factors"}, Setup{2, "factors"},
                                           Setup{4, "factors"}, Setup{1, "reduce-scatter"},
                                           Setup{2, "reduce-scatter"}, Setup{4, "reduce-scatter"}),
                         [](const auto &info) {
                           std::string name = info.param.scheme;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + "_on_" + std::to_string(info.param.ranks);
                         });

// Every rank holds the same bits after a step.
TEST(TrainingRun, RanksAgreeBitByBit) {
  TinyPlan plan(3, 5);
  TemporaryFolder files;
  Outcome run = runToEnd({plan.folder(), "-n", "3", "--steps", "4", "--momentum", "0.9", "--dump",
                          files.file("d"), "--dump-steps", "3"});
  ASSERT_EQ(run.code, 0) << run.output;
  for (const char *name : {"loss.npy", "gradients/fc%2Fw.npy", "parameters/fc%2Fw.npy"}) {
    std::string first = readFile(files.file("d/step3/") + name);
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(first, readFile(files.file("d/rank1/step3/") + name)) << name;
    EXPECT_EQ(first, readFile(files.file("d/rank2/step3/") + name)) << name;
  }
}

/// The parameters that rank 0 and rank 3 of four hold after three steps.
struct TrainedFiles {
  std::string first, last;
};

/// `perNode` ranks a node, each rank started by itself as torchrun does.
TrainedFiles trainBy(const std::string &scheme, int perNode) {
  TinyPlan plan(4, 2, "", scheme);
  TemporaryFolder files;
  std::map<std::string, std::string> environment{{"WORLD_SIZE", "4"},
                                                 {"LOCAL_WORLD_SIZE", std::to_string(perNode)},
                                                 {"MASTER_ADDR", "127.0.0.1"},
                                                 {"MASTER_PORT", std::to_string(freePort())}};
  std::vector<std::unique_ptr<Process>> ranks;
  for (int r = 0; r < 4; ++r) {
    environment["RANK"] = std::to_string(r);
    environment["LOCAL_RANK"] = std::to_string(r % perNode);
    ranks.push_back(
        std::make_unique<Process>(std::vector<std::string>{plan.folder(), "--steps", "3", "--dump",
                                                           files.file("d"), "--dump-steps", "2"},
                                  environment));
  }
  for (auto &rank : ranks)
    EXPECT_EQ(rank->wait(), 0) << rank->output();
  return {readFile(files.file("d/step2/parameters/fc%2Fw.npy")),
          readFile(files.file("d/rank3/step2/parameters/fc%2Fw.npy"))};
}

// Whatever the scheme, training goes as with the ring, and all ranks hold the same bits.
TEST(TrainingRun, EverySchemeTrains) {
  const std::string ring = trainBy("ring", 4).first;
  ASSERT_EQ(ring.size(), 128 + 48u);
  for (const char *scheme : {"recursive-doubling", "halving-doubling", "tree", "hierarchical",
                             "parameter-server", "reduce-scatter", "factors"}) {
    TrainedFiles trained = trainBy(scheme, 2);
    EXPECT_EQ(trained.first, trained.last) << scheme;
    ASSERT_EQ(trained.first.size(), ring.size()) << scheme;
    for (std::size_t at = 128; at < ring.size(); at += 4) {
      float found, wanted;
      std::memcpy(&found, trained.first.data() + at, 4);
      std::memcpy(&wanted, ring.data() + at, 4);
      EXPECT_NEAR(found, wanted, 1e-6) << scheme;
    }
  }
}

// Nodes that are not full have no hierarchy: the run ends with the reason.
TEST(TrainingRun, HierarchyOverUnevenNodes) {
  TinyPlan plan(3, 8, "", "hierarchical");
  std::map<std::string, std::string> environment{
      {"WORLD_SIZE", "3"}, {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}};
  environment["MASTER_PORT"] = std::to_string(freePort());
  std::vector<std::unique_ptr<Process>> ranks;
  for (int r = 0; r < 3; ++r) {
    environment["RANK"] = std::to_string(r);
    environment["LOCAL_RANK"] = std::to_string(r % 2);
    ranks.push_back(
        std::make_unique<Process>(std::vector<std::string>{plan.folder()}, environment));
  }
  for (auto &rank : ranks) {
    EXPECT_EQ(rank->wait(), 1);
    EXPECT_NE(rank->output().find("3 ranks are no multiple of 2 ranks a node"), std::string::npos)
        << rank->output();
  }
}

// JSON lines: one a step, in order, then a summary with the test accuracy.
TEST(TrainingRun, TellsJson) {
  TinyPlan plan(2, 8);
  TemporaryFolder files;
  writeSamples(files, "train", 320, 1);
  writeSamples(files, "test", 101, 2);
  Outcome run =
      runToEnd({plan.folder(), "--data", pairOf(files, "train"), "--eval", pairOf(files, "test"),
                "--epochs", "10", "--lr", "0.5", "--shuffle", "--log", "json"});
  ASSERT_EQ(run.code, 0) << run.output;
  std::stringstream lines(run.output);
  std::int64_t steps = 0;
  nlohmann::json last;
  for (std::string line; std::getline(lines, line);) {
    last = nlohmann::json::parse(line);
    if (!last.contains("summary")) {
      EXPECT_EQ(last.at("step"), steps++);
    }
  }
  EXPECT_EQ(steps, 200);
  EXPECT_EQ(last.at("steps"), 200);
  EXPECT_GE(last.at("test_accuracy").get<double>(), 0.97);
  EXPECT_GT(last.at("peak_memory_bytes").get<double>(), 1e6);
  EXPECT_GT(last.at("median_step_seconds").get<double>(), 0);
  // Two buckets of a cache line each, and the loss with three more numbers: half of each once
  // around the ring, twice.
  EXPECT_EQ(last.at("median_bytes_sent"), 160);
  EXPECT_EQ(last.at("median_bytes_received"), 160);
  EXPECT_EQ(last.at("predicted_traffic_bytes"), 256);
}

// torchrun's variables make a rank of each process, also when its agent holds the port.
TEST(TrainingRun, StartedByTorchrun) {
  TinyPlan plan(2);
  // The ranks meet one port above the agent's: look for an agent's port whose neighbour is free.
  Result<Socket> agent = Socket::listen(0);
  while (!holdPort(agent->localPort() + 1))
    agent = Socket::listen(0);
  std::map<std::string, std::string> environment{
      {"WORLD_SIZE", "2"},
      {"MASTER_ADDR", "localhost"},
      {"MASTER_PORT", std::to_string(agent->localPort())},
      {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  environment["RANK"] = "1";
  Process second({plan.folder(), "--steps", "2"}, environment);
  environment["RANK"] = "0";
  Outcome first = runToEnd({plan.folder(), "--steps", "2"}, environment);
  EXPECT_EQ(first.code, 0) << first.output;
  EXPECT_EQ(second.wait(), 0);
}

// The saved model is the skeleton with the values at the end, as onnx reads it.
TEST(TrainingRun, SavesOnnx) {
  if (std::system("/usr/bin/python3 -c 'import onnx' 2>/dev/null") != 0)
    GTEST_SKIP() << "no python3-onnx";
  TemporaryFolder files;
  std::string make = "/usr/bin/python3 -c \"import onnx; from onnx import helper as h; "
                     "n=h.make_node('Gemm',['x','fc/w','fc/b'],['logits']); "
                     "g=h.make_graph([n],'tiny',[h.make_tensor_value_info('x',1,[8,4])],"
                     "[h.make_tensor_value_info('logits',1,[8,3])]); "
                     "onnx.save(h.make_model(g),'" +
                     files.file("skeleton.onnx") + "')\"";
  ASSERT_EQ(std::system(make.c_str()), 0);
  TinyPlan plan(1, 8, readFile(files.file("skeleton.onnx")));
  Outcome run = runToEnd({plan.folder(), "--steps", "0", "--save", files.file("out.onnx")});
  ASSERT_EQ(run.code, 0) << run.output;
  std::string check =
      "/usr/bin/python3 -c \"import onnx, numpy as np; from onnx import numpy_helper as n; "
      "m=onnx.load('" +
      files.file("out.onnx") +
      "'); onnx.checker.check_model(m); assert len(m.graph.node)==1; "
      "v={t.name:n.to_array(t) for t in m.graph.initializer}; assert set(v)=={'fc/w','fc/b'}; "
      "assert np.allclose(v['fc/w'].ravel(),[0.1*(i%5)-0.2 for i in range(12)]); "
      "assert v['fc/w'].shape==(4,3); assert np.allclose(v['fc/b'],[0,.05,.1])\"";
  EXPECT_EQ(std::system(check.c_str()), 0);
}

// A file that cannot be written leaves nothing behind.
TEST(TrainingRun, SaveFails) {
  TinyPlan plan(1);
  Outcome run = runToEnd({plan.folder(), "--steps", "1", "--save", "/nowhere/out.onnx"});
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.output.find("'/nowhere/out.onnx': cannot write"), std::string::npos) << run.output;
}

// The wrong number of ranks, from a flag or from the environment, is a usage error.
TEST(TrainingRun, ContradictoryRanks) {
  TinyPlan plan(4);
  Outcome two = runToEnd({plan.folder(), "-n", "2"});
  EXPECT_EQ(two.code, 2);
  EXPECT_NE(two.output.find("the plan is for 4 ranks, '-n' says 2"), std::string::npos)
      << two.output;
  Outcome both = runToEnd({plan.folder(), "-n", "4"},
                          {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}});
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.output.find("'-n 4' contradicts 'WORLD_SIZE'"), std::string::npos) << both.output;
}

} // namespace
} // namespace syncline
