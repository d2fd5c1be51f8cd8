// Whole runs whose weights travel by servers, as processes.
#include "Processes.h"
#include "ServedPlan.h"

#include <cstring>
#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace syncline::testing;

std::vector<std::string> trainAndDump(const TinyPlan &plan, const TemporaryFolder &files,
                                      const std::vector<std::string> &more = {}) {
  std::vector<std::string> words{plan.folder(),   "--steps",      "6", "--momentum", "0.9",
                                 "--lr",          "0.1",          "--log", "json",
                                 "--weight-decay", "0.01",        "--dump",
                                 files.file("d"), "--dump-steps", "5", "--dump-all-ranks"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The parameter w after step 5.
std::vector<float> weightsOf(const TemporaryFolder &files, int rank) {
  const std::string file =
      readFile(files.file("d/rank" + std::to_string(rank) + "/step5/parameters/fc%2Fw.npy"));
  std::vector<float> values(12);
  EXPECT_EQ(file.size(), 128 + 48u);
  std::memcpy(values.data(), file.data() + file.size() - 48, 48);
  return values;
}

// SSP without staleness is BSP, with momentum and weight decay, over either kind of server. The
// dumped weights are a rank's own, before the last read: they differ from BSP's by the last step.
TEST(ServedWeights, SspWithoutStalenessIsBsp) {
  TinyPlan bsp(3, 5);
  TemporaryFolder plain;
  const Outcome summed = runToEnd(trainAndDump(bsp, plain));
  ASSERT_EQ(summed.code, 0) << summed.output;
  for (int servers : {0, 2}) {
    ServedPlan ssp(3, servers, {{"form", "ssp"}, {"staleness", 0}});
    TemporaryFolder files;
    const Outcome served = runToEnd(trainAndDump(ssp, files));
    ASSERT_EQ(served.code, 0) << served.output;
    EXPECT_EQ(served.output, "");
  }
}

} // namespace
} // namespace syncline
