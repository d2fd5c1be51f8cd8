// Sizes, times and the command line.
#include "runtime/calibrate/CalibrateOptions.h"
#include "runtime/calibrate/SizeText.h"

#include <gtest/gtest.h>

namespace syncline::calibrate {
namespace {

TEST(SizeText, WritesWhatItReads) {
  for (std::int64_t bytes : {4l, 1000l, 1l << 10, 3l << 20, 1l << 30, (1l << 20) + 4})
    EXPECT_EQ(*parseSize(sizeText(bytes)), bytes);
  EXPECT_EQ(sizeText(65536), "64KiB");
  EXPECT_EQ(*parseSize("1.5 MB"), 1500000);
}

TEST(SizeText, RefusesWhatIsNoSize) {
  for (const char *text : {"", "12", "-4KiB", "0B", "4 KiBs", "1.3B", "nanB", "1e99GiB", "KiB"})
    EXPECT_FALSE(parseSize(text).isOk()) << text;
  EXPECT_EQ(parseSize("12").status().message(), "expected a size such as '64KiB', got '12'");
}

TEST(SizeText, ReadsTimes) {
  EXPECT_DOUBLE_EQ(*parseTime("1.5min"), 90);
  EXPECT_DOUBLE_EQ(*parseTime("500ms"), 0.5);
  for (const char *text : {"60", "0s", "-1s", "infs", "s"})
    EXPECT_FALSE(parseTime(text).isOk()) << text;
}

struct Parsed {
  std::optional<int> code;
  std::string message;
  CalibrateOptions options;
};

Parsed parse(std::vector<std::string> words) {
  words.insert(words.begin(), "syncline-calibrate");
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  Parsed result;
  ::testing::internal::CaptureStderr();
  result.code = parseCalibrateOptions(static_cast<int>(argv.size()), argv.data(), result.options);
  result.message = ::testing::internal::GetCapturedStderr();
  return result;
}

TEST(CalibrateOptions, ReadsLists) {
  const Parsed parsed = parse({"-n", "4", "--time", "90s", "--sizes", "1KiB,1MiB", "--schemes",
                               "tree,factors", "--quiet", "-o", "c.yaml"});
  ASSERT_FALSE(parsed.code) << parsed.message;
  EXPECT_EQ(parsed.options.identity.localRanks, 4);
  EXPECT_EQ(parsed.options.seconds, 90);
  EXPECT_EQ(parsed.options.sizes, (std::vector<std::int64_t>{1 << 10, 1 << 20}));
  EXPECT_EQ(parsed.options.schemes, (std::vector<Scheme>{Scheme::tree, Scheme::factors}));
  EXPECT_TRUE(parsed.options.quiet);
}

// The switches that say where are syncline-run's; what is written says how it was measured.
TEST(CalibrateOptions, SaysWhere) {
  const Parsed cpu = parse({"-n", "2", "--threads", "3"});
  EXPECT_EQ(cpu.options.backend, "cpu");
  EXPECT_EQ(cpu.options.conditions(), "compute threads a rank: 3");
  const Parsed gpu = parse({"-n", "2", "--backend", "cuda", "--share-device"});
  ASSERT_FALSE(gpu.code) << gpu.message;
  EXPECT_TRUE(gpu.options.sharesDevice);
  EXPECT_EQ(gpu.options.conditions(),
            "--precision fp32 --share-device, messages go through sockets");
  EXPECT_EQ(parse({"--backend", "cuda", "--device", "1"}).options.device, 1);
  EXPECT_NE(gpu.options.sharedOptions(),
            parse({"-n", "2", "--backend", "cuda"}).options.sharedOptions());
}

// Each wrong line ends with code 2 and one message that names what is wrong.
TEST(CalibrateOptions, RefusesWrongLines) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--time", "10"}, "--time: expected a time such as '60s', got '10'"},
      {{"--time", "1ms"}, "--time: expected a time from 1s"},
      {{"--sizes", "1MiB,1KiB"}, "--sizes: expected sizes in ascending order, got '1KiB'"},
      {{"--sizes", "5B"}, "--sizes: expected multiples of 4B up to 1GiB, got '5B'"},
      {{"--sizes", "2GiB"}, "--sizes: expected multiples of 4B up to 1GiB"},
      {{"--schemes", "ring,star"}, "--schemes: unknown scheme 'star'"},
      {{"--schemes", "ring,ring"}, "--schemes: 'ring' is given twice"},
      {{"-n", "1"}, "at least 2"},
      {{"-n", "3", "--ranks-per-node", "2"},
       "--ranks-per-node: expected a divisor of 3 ranks, got '2'"},
      {{"--rank", "0", "--ranks", "3", "--ranks-per-node", "2"}, "a divisor of 3 ranks"},
      {{"-o", ""}, "expected a name"},
      {{"--backend", "tpu"}, "tpu"},
      {{"--share-device"}, "--share-device needs --backend cuda"},
      {{"--precision", "tf32"}, "--precision tf32 needs --backend cuda"},
      {{"--backend", "cuda", "--device", "0", "--share-device"}, "--share-device"},
      {{"--frobnicate"}, "frobnicate"},
  };
  for (const auto &[words, message] : cases) {
    const Parsed parsed = parse(words);
    EXPECT_EQ(parsed.code, 2) << words.front();
    EXPECT_NE(parsed.message.find("syncline-calibrate: error: "), std::string::npos);
    EXPECT_NE(parsed.message.find(message), std::string::npos) << parsed.message;
  }
}

} // namespace
} // namespace syncline::calibrate
