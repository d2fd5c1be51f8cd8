// Ranges on the command line, and the values between their ends.
#include "frontend/sweep/SweepAxis.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::sweep;

TEST(SweepAxisTest, ReadsARangeWithUnits) {
  Result<SweepAxis> axis = parseSweep("bandwidth=1Gb/s..100Gb/s");
  ASSERT_TRUE(axis) << axis.status().message();
  EXPECT_EQ(axis->kind, SweepAxis::Kind::bandwidth);
  EXPECT_DOUBLE_EQ(axis->first, 1.25e8);
  EXPECT_DOUBLE_EQ(axis->last, 1.25e10);
  axis = parseSweep("bucket=1MiB..200MiB");
  ASSERT_TRUE(axis) << axis.status().message();
  EXPECT_EQ(axis->kind, SweepAxis::Kind::bucket);
  EXPECT_EQ(axis->last, 200 << 20);
  axis = parseSweep("ranks=16");
  ASSERT_TRUE(axis);
  EXPECT_EQ(axis->first, axis->last);
}

// A list's values are the points, as they were typed.
TEST(SweepAxisTest, ReadsAList) {
  Result<SweepAxis> axis = parseSweep("ranks=4,6,16");
  ASSERT_TRUE(axis) << axis.status().message();
  EXPECT_EQ(sweepValues(*axis, 4), (std::vector<double>{4, 6, 16}));
}

// Overlaps have names, and no value lies between them.
TEST(SweepAxisTest, ReadsOverlaps) {
  Result<SweepAxis> axis = parseSweep("overlap=backward,step");
  ASSERT_TRUE(axis) << axis.status().message();
  const std::vector<double> values = sweepValues(*axis, 4);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(axisValue(SweepAxis::Kind::overlap, values[0]), "backward");
  EXPECT_EQ(axisValue(SweepAxis::Kind::overlap, values[1]), "step");
  axis = parseSweep("overlap=step");
  ASSERT_TRUE(axis) << axis.status().message();
}

// Planners stand in the order in which they were typed.
TEST(SweepAxisTest, ReadsPlanners) {
  Result<SweepAxis> axis = parseSweep("planner=wfbp,ddp:25MiB,optimal");
  ASSERT_TRUE(axis) << axis.status().message();
  const std::vector<double> values = sweepValues(*axis, 4);
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(axisValue(*axis, values[0]), "wfbp");
  EXPECT_EQ(axisValue(*axis, values[1]), "ddp:25MiB");
  EXPECT_EQ(axisValue(*axis, values[2]), "optimal");
  EXPECT_TRUE(axis->isNamed());
  for (auto [text, said] :
       {std::pair("planner=", "--sweep: 'planner=': expected names of planners, got nothing"),
        std::pair("planner=wfbp,", "'planner=wfbp,': expected names of planners, got nothing in "),
        std::pair("planner=fastest", "--sweep: unknown planner 'fastest'"),
        std::pair("planner=ddp", "--sweep: planner 'ddp' needs a size"),
        std::pair("planner=wfbp,wfbp", "--sweep: planner 'wfbp' is named twice"),
        std::pair("planner=wfbp..optimal", "wfbp..optimal"),
        std::pair("planner=z3:messages=4",
                  "--sweep: planner 'z3:messages=4' plans only in 'syncline compile'")}) {
    axis = parseSweep(text);
    ASSERT_FALSE(axis) << text;
    EXPECT_EQ(axis.status().kind(), ErrorKind::badUsage) << text;
    EXPECT_NE(axis.status().message().find(said), std::string::npos) << axis.status().message();
  }
}

TEST(SweepAxisTest, RefusesAxesThatSetTheSame) {
  auto check = [](const char *one, const char *other) {
    return checkCombination(*parseSweep(one), *parseSweep(other)).message();
  };
  EXPECT_EQ(check("ranks=4..8", "bandwidth=1Gb/s"), "");
  EXPECT_EQ(check("ranks=4..8", "ranks=16"), "--sweep: 'ranks' is given twice");
  EXPECT_EQ(check("ranks=4..8", "nodes=16"), "--sweep: 'ranks' and 'nodes' set the same thing");
  EXPECT_EQ(check("planner=wfbp", "bucket=1MiB"),
            "--sweep: 'planner' and 'bucket' set the same thing");
}

TEST(SweepAxisTest, RefusesWhatIsNoRange) {
  for (const char *text : {"",
                           "bandwidth",
                           "speed=1..2",
                           "bandwidth=1..2",
                           "latency=0s..1ms",
                           "ranks=0..4",
                           "ranks=1.5..4",
                           "slow=-1..2",
                           "slow=1..x",
                           "batch=8..4",
                           "slow=nan..2",
                           "slow=0x10",
                           "slow=1..1e308",
                           "ranks=..4",
                           "ranks=4..",
                           "ranks=8,4",
                           "ranks=4,4",
                           "ranks=4,",
                           "ranks=4,8..16",
                           "ranks=1..2..4",
                           "nodes=0..8",
                           "bucket=0B..1MiB",
                           "bucket=25",
                           "overlap=step,backward",
                           "overlap=backward..step",
                           "overlap=auto"}) {
    Result<SweepAxis> axis = parseSweep(text);
    ASSERT_FALSE(axis) << text;
    EXPECT_EQ(axis.status().exitCode(), 2) << text;
  }
}

TEST(SweepAxisTest, DoublesAndKeepsBothEnds) {
  EXPECT_EQ(sweepValues({SweepAxis::Kind::slow, 1, 6}, 1), (std::vector<double>{1, 2, 4, 6}));
  EXPECT_EQ(sweepValues({SweepAxis::Kind::slow, 1, 4}, 1), (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(sweepValues({SweepAxis::Kind::slow, 3, 3}, 1), (std::vector<double>{3}));
}

// Between the ends ranks are a part of one node or whole nodes; what was typed stays.
TEST(SweepAxisTest, RanksAreWholeNodes) {
  EXPECT_EQ(sweepValues({SweepAxis::Kind::ranks, 2, 32}, 8),
            (std::vector<double>{2, 4, 8, 16, 32}));
  EXPECT_EQ(sweepValues({SweepAxis::Kind::ranks, 3, 30}, 8),
            (std::vector<double>{3, 6, 16, 24, 30}));
  EXPECT_EQ(sweepValues({SweepAxis::Kind::batch, 1, 4}, 1), (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(sweepValues({SweepAxis::Kind::nodes, 1, 8}, 8), (std::vector<double>{1, 2, 4, 8}));
}

TEST(SweepAxisTest, WritesValuesForPeople) {
  EXPECT_EQ(axisValue(SweepAxis::Kind::bandwidth, 1.25e9), "10 Gb/s");
  EXPECT_EQ(axisValue(SweepAxis::Kind::latency, 5e-5), "50.0 us");
  EXPECT_EQ(axisValue(SweepAxis::Kind::ranks, 2048), "2048");
  EXPECT_EQ(axisValue(SweepAxis::Kind::slow, 1.5), "1.5");
  EXPECT_EQ(axisValue(SweepAxis::Kind::bucket, 25 << 20), "25.00 MiB");
}

// A file's reader has the header alone to know the unit.
TEST(SweepAxisTest, ColumnsHaveUnits) {
  EXPECT_EQ(csvColumn(SweepAxis::Kind::bandwidth), "bandwidth_bit_per_s");
  EXPECT_EQ(csvValue(SweepAxis::Kind::bandwidth, 1.25e9), 1e10);
  EXPECT_EQ(csvColumn(SweepAxis::Kind::latency), "latency_s");
  EXPECT_EQ(csvValue(SweepAxis::Kind::batch, 32), 32);
}
