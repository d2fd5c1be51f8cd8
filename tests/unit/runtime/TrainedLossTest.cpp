// Names and parameters of losses, and their values for one element.
#include "syncline/TrainedLoss.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace syncline;

TEST(TrainedLoss, IsWrittenAsItIsRead) {
  for (const char *text :
       {"cross-entropy", "cross-entropy:targets=probabilities", "cross-entropy:smoothing=0.1",
        "cross-entropy:targets=probabilities,smoothing=0.1", "cross-entropy:weights=w.npy",
        "cross-entropy:targets=probabilities,smoothing=0.1,weights=a/w.npy", "mse", "l1",
        "smooth-l1", "smooth-l1:beta=0.25", "bce-with-logits", "output:loss",
        "output:/a:b=0.4,c"}) {
    const auto loss = TrainedLoss::parse(text);
    ASSERT_TRUE(loss) << text;
    EXPECT_EQ(loss->text(), text);
  }
  EXPECT_EQ(TrainedLoss::parse("smooth-l1:beta=1.0")->text(), "smooth-l1");
  EXPECT_EQ(TrainedLoss::parse("cross-entropy:smoothing=0")->text(), "cross-entropy");
  EXPECT_EQ(TrainedLoss::parse("cross-entropy:smoothing=0.50,targets=probabilities")->text(),
            "cross-entropy:targets=probabilities,smoothing=0.5");
  EXPECT_EQ(TrainedLoss::parse("smooth-l1:beta=2.50")->text(), "smooth-l1:beta=2.5");
}

TEST(TrainedLoss, NamesWhatIsKnown) {
  const auto refused = [](const char *text, const std::string &why) {
    const auto loss = TrainedLoss::parse(text);
    ASSERT_FALSE(loss) << text;
    EXPECT_NE(loss.status().message().find(why), std::string::npos) << loss.status().message();
  };
  refused("", "expected the loss cross-entropy, ");
  refused("hinge", "smooth-l1:beta=B, bce-with-logits or output:NAME, got 'hinge'");
  refused("l1:beta=1", "loss 'l1': expected no parameters, got 'beta=1'");
  refused("mse:", "loss 'mse': expected no parameters, got ''");
  refused("bce-with-logits:beta=1", "expected no parameters");
  for (const char *text : {"output", "output:"})
    refused(text, "loss 'output': expected the name of an output of the model, 'output:NAME'");
  refused("bce-with-logits:weights=w.npy", "expected no parameters, got 'weights=w.npy'");
  for (const char *parameters :
       {"", "smoothing", "smoothing=", "smoothing=1", "smoothing=-0.1", "smoothing=nan",
        "smoothing=0.1x", "smoothing=0.1,", "smoothing=0.1,smoothing=0.1", "targets=classes",
        "targets=probabilities,targets=probabilities", "beta=0.1", "weights",
        "weights=", "weights=a,weights=b", "weights=a,b.npy"})
    refused(("cross-entropy:" + std::string(parameters)).c_str(),
            "loss 'cross-entropy': expected 'targets=probabilities', 'smoothing=S' with S from 0 "
            "to below 1, 'weights=FILE' with a file's name without a comma, or several with commas "
            "between, got '" +
                std::string(parameters) + "'");
  for (const char *beta : {"", "beta", "beta=", "beta=0", "beta=-1", "beta=nan", "beta=inf",
                           "beta=1e31", "beta=1x", "beta= 1", "gamma=1", "beta=1,beta=2"})
    refused(("smooth-l1:" + std::string(beta)).c_str(),
            "loss 'smooth-l1': expected 'beta=B' with B from 1e-30 to 1e30, got '" +
                std::string(beta) + "'");
}

TEST(TrainedLoss, OfOneElement) {
  const auto of = [](const char *text, double y, double target) {
    return TrainedLoss::parse(text)->ofElement(y, target);
  };
  EXPECT_EQ(of("mse", 3, 1), 4);
  EXPECT_EQ(of("l1", -3, 1), 4);
  EXPECT_EQ(of("smooth-l1", 1, 1.5), 0.125);
  EXPECT_EQ(of("smooth-l1:beta=2", 1, 3), 1); // both branches
  EXPECT_EQ(of("smooth-l1:beta=0.5", 4, 1), 2.75);
  EXPECT_DOUBLE_EQ(of("bce-with-logits", 0, 0.3), std::log(2));
  EXPECT_EQ(of("bce-with-logits", 1000, 0), 1000);
  EXPECT_EQ(of("bce-with-logits", 1000, 1), 0);
  EXPECT_DOUBLE_EQ(of("bce-with-logits", 40, 1), std::exp(-40));
  EXPECT_TRUE(std::isnan(of("l1", std::nan(""), 1)));
  EXPECT_TRUE(std::isnan(of("smooth-l1", std::nan(""), 1)));
}
