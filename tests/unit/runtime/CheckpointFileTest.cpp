// The files of checkpoints: what comes back, what is refused, what is removed.
#include "TinyPlan.h"

#include "runtime/run/CheckpointOptions.h"
#include "runtime/run/CheckpointReader.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <limits>

namespace syncline {
namespace {

using namespace run;
using namespace testing;
using Kind = CheckpointKey::Kind;

std::vector<std::byte> bytesOf(const std::string &text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<CheckpointPart> someParts() {
  return {{{Kind::parameter, "fc/w \"ü\"", 0, 0}, bytesOf("weights")},
          {{Kind::state, "bn/mean", 0, 0}, bytesOf("")},
          {{Kind::optimizer, "fc/w \"ü\"", 1, 64}, bytesOf(std::string(3 << 20, 'v'))}};
}

CheckpointManifest someManifest(std::int64_t step = 400) {
  CheckpointManifest m;
  m.plan = "tiny";
  m.planHash = "abc";
  m.consistency = "bsp";
  m.layout = "layout";
  m.ranks = 2;
  m.batch = 8;
  m.step = step;
  m.epoch = 3;
  m.batchInEpoch = 7;
  m.samples = 1000;
  m.options = "--lr 0.1 --seed 0";
  m.lossSum = std::numeric_limits<double>::quiet_NaN();
  m.losses = 7;
  m.files = {{100, std::string(64, 'a')}, {200, std::string(64, 'b')}};
  return m;
}

/// Makes a complete checkpoint of one rank with one part.
void make(const CheckpointFolder &folder, std::int64_t step) {
  std::filesystem::create_directories(folder.of(step));
  const std::vector<CheckpointPart> parts{{{Kind::parameter, "w", 0, 0}, bytesOf("value")}};
  const auto digest = writeCheckpointFile(folder.fileOf(step, 0), parts);
  ASSERT_TRUE(digest.isOk());
  CheckpointManifest m = someManifest(step);
  m.ranks = 1;
  m.files = {*digest};
  ASSERT_TRUE(folder.complete(m).isOk());
}

// Every part comes back with its bytes, and the digest is that of the file.
TEST(CheckpointFile, RoundTrip) {
  const TemporaryFolder folder;
  const auto parts = someParts();
  const auto digest = writeCheckpointFile(folder.file("f"), parts);
  ASSERT_TRUE(digest.isOk());
  EXPECT_EQ(CheckpointManifest::whyBad(folder.file("f"), *digest), "");
  auto file = CheckpointFile::open(folder.file("f"));
  ASSERT_TRUE(file.isOk()) << file.status().message();
  ASSERT_EQ(file->parts().size(), parts.size());
  for (const auto &[key, bytes] : parts) {
    std::vector<std::byte> read(static_cast<std::size_t>(file->parts().at(key)));
    ASSERT_TRUE(file->read(key, 0, read).isOk());
    EXPECT_EQ(read, bytes);
  }
  EXPECT_FALSE(std::filesystem::exists(folder.file("f.partial")));
}

// A file that is cut at any length or has any byte changed is told from a good one.
TEST(CheckpointFile, JudgesChanges) {
  const TemporaryFolder folder;
  const std::vector<CheckpointPart> parts{{{Kind::parameter, "w", 0, 0}, bytesOf("values")}};
  const auto digest = writeCheckpointFile(folder.file("f"), parts);
  ASSERT_TRUE(digest.isOk());
  const std::string good = readFile(folder.file("f"));
  for (std::size_t i = 0; i < good.size(); ++i) {
    writeFile(folder.file("f"), good.substr(0, i));
    EXPECT_NE(CheckpointManifest::whyBad(folder.file("f"), *digest).find("is cut off: "),
              std::string::npos);
    std::string flipped = good;
    flipped[i] ^= 1;
    writeFile(folder.file("f"), flipped);
    EXPECT_EQ(CheckpointManifest::whyBad(folder.file("f"), *digest),
              "was changed: its SHA-256 differs");
  }
  writeFile(folder.file("f"), good + "x");
  EXPECT_EQ(CheckpointManifest::whyBad(folder.file("f"), *digest).substr(0, 12), "is too long:");
  std::filesystem::remove(folder.file("f"));
  EXPECT_EQ(CheckpointManifest::whyBad(folder.file("f"), *digest), "is missing");
}

TEST(CheckpointFile, RefusesOtherFiles) {
  const TemporaryFolder folder;
  for (const std::string &text :
       {std::string(), std::string("SYNCKPT1"), std::string("NOTMINE1\2\0\0\0\0\0\0\0{}", 18),
        std::string("SYNCKPT1\377\377\377\377\377\377\377\377{}", 18),
        std::string("SYNCKPT1\2\0\0\0\0\0\0\0{}", 18)}) {
    writeFile(folder.file("f"), text);
    const auto file = CheckpointFile::open(folder.file("f"));
    ASSERT_FALSE(file.isOk());
    EXPECT_NE(file.status().message().find(folder.file("f")), std::string::npos);
  }
}

// A file that cannot be written leaves nothing behind.
TEST(CheckpointFile, LeavesNothingHalfWritten) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("f/in the way"));
  const auto digest = writeCheckpointFile(folder.file("f"), someParts());
  ASSERT_FALSE(digest.isOk());
  EXPECT_EQ(digest.status().kind(), ErrorKind::badInput);
  EXPECT_FALSE(std::filesystem::exists(folder.file("f.partial")));
}

TEST(CheckpointManifest, RoundTrip) {
  const CheckpointManifest m = someManifest();
  const auto again = CheckpointManifest::parse(m.text());
  ASSERT_TRUE(again.isOk()) << again.status().message();
  EXPECT_EQ(again->text(), m.text());
  EXPECT_TRUE(std::isnan(again->lossSum));
  EXPECT_EQ(again->batchInEpoch, 7);
  EXPECT_EQ(again->files[1].bytes, 200);
}

TEST(CheckpointManifest, RefusesChanges) {
  const std::string good = someManifest().text();
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (i + 1 < good.size()) { // the end of the line is no part of the JSON
      EXPECT_FALSE(CheckpointManifest::parse(good.substr(0, i)).isOk()) << i;
    }
    std::string flipped = good;
    flipped[i] ^= 1;
    EXPECT_FALSE(CheckpointManifest::parse(flipped).isOk()) << i;
  }
  EXPECT_FALSE(CheckpointManifest::parse(std::string(100000, '[')).isOk());
}

// The last K stay, and what was begun and not finished before them goes.
TEST(CheckpointFolder, KeepsTheLast) {
  const TemporaryFolder files;
  const CheckpointFolder folder(files.file("c"));
  EXPECT_TRUE(folder.list().empty());
  for (const std::int64_t step : {9, 10, 100, 200, 300})
    make(folder, step);
  for (const std::int64_t step : {50, 250})
    std::filesystem::create_directories(folder.of(step));
  std::filesystem::create_directories(files.file("c/step007"));
  folder.prune(200, 2);
  std::vector<std::int64_t> steps;
  for (const CheckpointFolder::Entry &entry : folder.list())
    steps.push_back(entry.step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{300, 250, 200, 100}));
  EXPECT_FALSE(folder.list()[1].hasManifest);
  EXPECT_TRUE(std::filesystem::exists(files.file("c/step007")));
}

// A moment is put together from parts that are cut otherwise, and a gap is found.
TEST(CheckpointReader, JoinsMoments) {
  const TemporaryFolder files;
  const CheckpointFolder folder(files.file("c"));
  std::filesystem::create_directories(folder.of(5));
  CheckpointManifest m = someManifest(5);
  m.files.clear();
  const auto moment = [](int slot, std::int64_t begin) {
    return CheckpointKey{Kind::optimizer, "w", slot, begin};
  };
  const std::vector<std::vector<CheckpointPart>> ranks{
      {{{Kind::state, "s", 0, 0}, bytesOf("zero")}, {moment(0, 4), bytesOf("efgh")}},
      {{{Kind::state, "s", 0, 0}, bytesOf("one!")},
       {moment(0, 0), bytesOf("abcd")},
       {moment(0, 12), bytesOf("mnop")}}};
  for (int rank = 0; rank < 2; ++rank)
    m.files.push_back(*writeCheckpointFile(folder.fileOf(5, rank), ranks[rank]));
  auto reader = CheckpointReader::open(folder, m, /*rank=*/1);
  ASSERT_TRUE(reader.isOk()) << reader.status().message();
  std::vector<std::byte> some(5);
  ASSERT_TRUE(reader->readMoment("w", 0, 2, some).isOk());
  EXPECT_EQ(some, bytesOf("cdefg"));
  const Status gap = reader->readMoment("w", 0, 6, some);
  ASSERT_FALSE(gap.isOk());
  EXPECT_NE(gap.message().find("moment 0 of 'w' from byte 8"), std::string::npos) << gap.message();
  EXPECT_FALSE(reader->readMoment("w", 1, 0, some).isOk());
  EXPECT_FALSE(reader->readMoment("a", 0, 0, some).isOk());
  EXPECT_TRUE(reader->hasMoments(0));
  EXPECT_FALSE(reader->hasMoments(1));
  std::vector<std::byte> own(4);
  ASSERT_TRUE(reader->read({Kind::state, "s", 0, 0}, own).isOk());
  EXPECT_EQ(own, bytesOf("one!"));
}

// Some options must not change, others are told, and those of checkpoints and reports are free.
TEST(CheckpointOptions, Comparison) {
  const auto forbidden = [](const char *before, const char *now) {
    return compareOptions(before, now).forbidden;
  };
  const auto changed = [](const char *before, const char *now) {
    return compareOptions(before, now).changed;
  };
  EXPECT_EQ(forbidden("--seed 0 --lr 1", "--seed 0 --lr 2"), "");
  EXPECT_EQ(forbidden("--seed 0", "--seed 1"), "--seed 0 is now 1");
  EXPECT_EQ(forbidden("--seed 0", "--seed 0 --shuffle"), "--shuffle is new");
  EXPECT_EQ(forbidden("--seed 0 --shuffle", "--seed 0"), "--shuffle is gone");
  EXPECT_EQ(changed("--lr 0.1 --nesterov", "--lr 0.01"),
            "--lr 0.1 is now 0.01, --nesterov is gone");
  EXPECT_EQ(changed("--lr 1", "--lr 1 --weight-decay 0.5"), "--weight-decay 0.5 is new");
  EXPECT_EQ(changed("--lr 1 --checkpoint --every 5", "--lr 1 --checkpoint --resume"), "");
}

} // namespace
} // namespace syncline
