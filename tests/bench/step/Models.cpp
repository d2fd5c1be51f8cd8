// ResNet-50, VGG-11 and DenseNet-121 as torchvision has them.
#include "tests/bench/step/Network.h"

namespace syncline::bench {

namespace {

Tensor bottleneck(Network &net, Tensor x, std::int64_t width, std::int64_t stride) {
  const bool projects = stride != 1 || net.shape(x)[1] != 4 * width;
  Tensor y = net.batchNorm(net.conv(x, width, 1, 1, 0), true);
  y = net.batchNorm(net.conv(y, width, 3, stride, 1), true);
  y = net.batchNorm(net.conv(y, 4 * width, 1, 1, 0), false);
  if (projects)
    x = net.batchNorm(net.conv(x, 4 * width, 1, stride, 0), false);
  return net.addRelu(y, x);
}

void resnet50(Network &net, std::int64_t batch) {
  Tensor x = net.batchNorm(net.conv(net.input({batch, 3, 224, 224}), 64, 7, 2, 3), true);
  x = net.maxPool(x, 3, 2, 1);
  const int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage)
    for (int i = 0; i < blocks[stage]; ++i)
      x = bottleneck(net, x, 64 << stage, stage > 0 && i == 0 ? 2 : 1);
  net.train(net.linear(net.flatten(net.averagePool(x, 7, 1)), 1000));
}

void vgg11(Network &net, std::int64_t batch) {
  Tensor x = net.input({batch, 3, 224, 224});
  for (int channels : {64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0})
    x = channels ? net.conv(x, channels, 3, 1, 1, true, true) : net.maxPool(x, 2, 2, 0);
  x = net.linear(net.linear(net.flatten(x), 4096, true), 4096, true);
  net.train(net.linear(x, 1000));
}

void densenet121(Network &net, std::int64_t batch) {
  Tensor x = net.batchNorm(net.conv(net.input({batch, 3, 224, 224}), 64, 7, 2, 3), true);
  x = net.maxPool(x, 3, 2, 1);
  const int layers[] = {6, 12, 24, 16};
  for (int block = 0; block < 4; ++block) {
    std::vector<Tensor> features{x};
    for (int i = 0; i < layers[block]; ++i) {
      const Tensor all = features.size() == 1 ? x : net.concat(features);
      const Tensor y = net.conv(net.batchNorm(all, true), 128, 1, 1, 0);
      features.push_back(net.conv(net.batchNorm(y, true), 32, 3, 1, 1));
    }
    x = net.batchNorm(net.concat(features), true);
    if (block < 3)
      x = net.averagePool(net.conv(x, net.shape(x)[1] / 2, 1, 1, 0), 2, 2);
  }
  net.train(net.linear(net.flatten(net.averagePool(x, 7, 1)), 1000));
}

} // namespace

bool buildNetwork(const std::string &name, std::int64_t batch, core::Executable &executable) {
  Network net(executable);
  if (name == "resnet50")
    resnet50(net, batch);
  else if (name == "vgg11")
    vgg11(net, batch);
  else if (name == "densenet121")
    densenet121(net, batch);
  else
    return false;
  return true;
}

} // namespace syncline::bench
