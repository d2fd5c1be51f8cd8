"""The published architectures of six convolutional networks, layer by layer, as their papers
give them."""

class Network:
    """Collects layers with parameters: (name, parameters, multiply-adds a sample, shape of a
    product or None).

    A feature map is (channels, height, width); layers return the one they make. All elements are 4
    bytes.
    """

    def __init__(self, name):
        self.name = name
        self.layers = []

    def conv(self, name, x, out, kernel, stride=1, pad=0, groups=1, bias=True):
        channels, height, width = x
        (kh, kw), (ph, pw) = pair(kernel), pair(pad)
        oh, ow = (height + 2 * ph - kh) // stride + 1, (width + 2 * pw - kw) // stride + 1
        weights = out * (channels // groups) * kh * kw
        self.layers.append((name, weights + (out if bias else 0), weights * oh * ow, None))
        return out, oh, ow

    def norm(self, name, x):
        """Scale and shift; two operations (one multiply-add) an element for each of mean, variance
        and result."""
        channels, height, width = x
        self.layers.append((name, 2 * channels, 3 * channels * height * width, None))
        return x

    def conv_norm(self, name, x, out, kernel, stride=1, pad=0):
        return self.norm(name + "/bn", self.conv(name, x, out, kernel, stride, pad, bias=False))

    def dense(self, name, inputs, outputs):
        self.layers.append((name, (inputs + 1) * outputs, inputs * outputs, (inputs, outputs)))

    def parameters(self):
        return sum(count for _, count, _, _ in self.layers)


def pair(value):
    return value if isinstance(value, tuple) else (value, value)


def pool(x, kernel, stride, pad=0, ceil=False):
    channels, *sides = x
    return (
        channels,
        *[(side + 2 * pad - kernel + (stride - 1 if ceil else 0)) // stride + 1 for side in sides],
    )


def joined(maps):
    """Branches side by side."""
    return (sum(m[0] for m in maps), *maps[0][1:])


def alexnet():
    """Krizhevsky et al. 2012; two groups, as on its two GPUs."""
    net = Network("alexnet")
    x = pool(net.conv("conv1", (3, 227, 227), 96, 11, stride=4), 3, 2)
    x = pool(net.conv("conv2", x, 256, 5, pad=2, groups=2), 3, 2)
    x = net.conv("conv3", x, 384, 3, pad=1)
    x = net.conv("conv4", x, 384, 3, pad=1, groups=2)
    c, h, w = pool(net.conv("conv5", x, 256, 3, pad=1, groups=2), 3, 2)
    net.dense("fc6", c * h * w, 4096)
    net.dense("fc7", 4096, 4096)
    net.dense("fc8", 4096, 1000)
    return net


def vgg19(name="vgg19", classes=1000):
    """Simonyan and Zisserman 2014, configuration E."""
    net, x = Network(name), (3, 224, 224)
    for block, (count, channels) in enumerate([(2, 64), (2, 128), (4, 256), (4, 512), (4, 512)], 1):
        for i in range(1, count + 1):
            x = net.conv(f"conv{block}_{i}", x, channels, 3, pad=1)
        x = pool(x, 2, 2)
    net.dense("fc6", x[0] * x[1] * x[2], 4096)
    net.dense("fc7", 4096, 4096)
    net.dense("fc8", 4096, classes)
    return net


def googlenet():
    """Szegedy et al. 2014, table 1, without the two auxiliary classifiers."""
    net = Network("googlenet")
    x = pool(net.conv("conv1/7x7_s2", (3, 224, 224), 64, 7, stride=2, pad=3), 3, 2, ceil=True)
    x = net.conv("conv2/3x3_reduce", x, 64, 1)
    x = pool(net.conv("conv2/3x3", x, 192, 3, pad=1), 3, 2, ceil=True)
    modules = {
        "3a": (64, 96, 128, 16, 32, 32), "3b": (128, 128, 192, 32, 96, 64),
        "4a": (192, 96, 208, 16, 48, 64), "4b": (160, 112, 224, 24, 64, 64),
        "4c": (128, 128, 256, 24, 64, 64), "4d": (112, 144, 288, 32, 64, 64),
        "4e": (256, 160, 320, 32, 128, 128),
        "5a": (256, 160, 320, 32, 128, 128), "5b": (384, 192, 384, 48, 128, 128),
    }  # fmt: skip
    for module, (one, reduce3, three, reduce5, five, project) in modules.items():
        name = f"inception_{module}"
        if module in ("4a", "5a"):
            x = pool(x, 3, 2, ceil=True)
        x = joined([
            net.conv(f"{name}/1x1", x, one, 1),
            net.conv(f"{name}/3x3", net.conv(f"{name}/3x3_reduce", x, reduce3, 1), three, 3, pad=1),
            net.conv(f"{name}/5x5", net.conv(f"{name}/5x5_reduce", x, reduce5, 1), five, 5, pad=2),
            net.conv(f"{name}/pool_proj", x, project, 1),
        ])  # fmt: skip
    net.dense("loss3/classifier", x[0], 1000)
    return net


def resnet(name, counts):
    """He et al. 2015, table 1: so many blocks in each stage, whose first 1x1 convolution has the
    stage's stride."""
    net = Network(name)
    x = pool(net.conv_norm("conv1", (3, 224, 224), 64, 7, stride=2, pad=3), 3, 2, pad=1)
    for stage, (count, width) in enumerate(zip(counts, (64, 128, 256, 512)), 2):
        for i in range(1, count + 1):
            block, stride = f"conv{stage}_{i}", 2 if i == 1 and stage > 2 else 1
            if i == 1:
                net.conv_norm(f"{block}/shortcut", x, 4 * width, 1, stride)
            x = net.conv_norm(f"{block}/a", x, width, 1, stride)
            x = net.conv_norm(f"{block}/b", x, width, 3, pad=1)
            x = net.conv_norm(f"{block}/c", x, 4 * width, 1)
    net.dense("fc", x[0], 1000)
    return net


def resnet152():
    return resnet("resnet152", (3, 8, 36, 3))


class InceptionV3:
    """Szegedy et al. 2015 with the auxiliary classifier, every convolution normalised with scale
    and shift."""

    def __init__(self):
        self.net = Network("inception-v3")

    def chain(self, name, x, steps):
        for i, (out, kernel, stride, pad) in enumerate(steps, 1):
            x = self.net.conv_norm(f"{name}_{i}", x, out, kernel, stride, pad)
        return x

    def module_a(self, name, x, projected):
        return joined([
            self.chain(f"{name}/1x1", x, [(64, 1, 1, 0)]),
            self.chain(f"{name}/5x5", x, [(48, 1, 1, 0), (64, 5, 1, 2)]),
            self.chain(f"{name}/3x3dbl", x, [(64, 1, 1, 0), (96, 3, 1, 1), (96, 3, 1, 1)]),
            self.chain(f"{name}/pool", x, [(projected, 1, 1, 0)]),
        ])  # fmt: skip

    def module_b(self, name, x):
        return joined([
            self.chain(f"{name}/3x3", x, [(384, 3, 2, 0)]),
            self.chain(f"{name}/3x3dbl", x, [(64, 1, 1, 0), (96, 3, 1, 1), (96, 3, 2, 0)]),
            pool(x, 3, 2),
        ])  # fmt: skip

    def module_c(self, name, x, c7):
        row, column = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
        return joined([
            self.chain(f"{name}/1x1", x, [(192, 1, 1, 0)]),
            self.chain(f"{name}/7x7", x, [(c7, 1, 1, 0), (c7, *row), (192, *column)]),
            self.chain(f"{name}/7x7dbl", x, [(c7, 1, 1, 0), (c7, *column), (c7, *row),
                                             (c7, *column), (192, *row)]),
            self.chain(f"{name}/pool", x, [(192, 1, 1, 0)]),
        ])  # fmt: skip

    def module_d(self, name, x):
        seven = [(192, 1, 1, 0), (192, (1, 7), 1, (0, 3)), (192, (7, 1), 1, (3, 0)), (192, 3, 2, 0)]
        return joined([
            self.chain(f"{name}/3x3", x, [(192, 1, 1, 0), (320, 3, 2, 0)]),
            self.chain(f"{name}/7x7x3", x, seven),
            pool(x, 3, 2),
        ])  # fmt: skip

    def module_e(self, name, x):
        def split(part, y):
            return joined([
                self.chain(f"{part}/row", y, [(384, (1, 3), 1, (0, 1))]),
                self.chain(f"{part}/column", y, [(384, (3, 1), 1, (1, 0))]),
            ])  # fmt: skip

        return joined([
            self.chain(f"{name}/1x1", x, [(320, 1, 1, 0)]),
            split(f"{name}/3x3", self.chain(f"{name}/3x3", x, [(384, 1, 1, 0)])),
            split(f"{name}/3x3dbl",
                  self.chain(f"{name}/3x3dbl", x, [(448, 1, 1, 0), (384, 3, 1, 1)])),
            self.chain(f"{name}/pool", x, [(192, 1, 1, 0)]),
        ])  # fmt: skip

    def whole(self):
        x = self.chain("stem/a", (3, 299, 299), [(32, 3, 2, 0), (32, 3, 1, 0), (64, 3, 1, 1)])
        x = pool(self.chain("stem/b", pool(x, 3, 2), [(80, 1, 1, 0), (192, 3, 1, 0)]), 3, 2)
        for name, projected in [("5b", 32), ("5c", 64), ("5d", 64)]:
            x = self.module_a(f"mixed_{name}", x, projected)
        x = self.module_b("mixed_6a", x)
        for name, c7 in [("6b", 128), ("6c", 160), ("6d", 160), ("6e", 192)]:
            x = self.module_c(f"mixed_{name}", x, c7)
        side = self.chain("aux", pool(x, 5, 3), [(128, 1, 1, 0), (768, 5, 1, 0)])
        self.net.dense("aux/fc", side[0], 1000)
        x = self.module_d("mixed_7a", x)
        for name in ("7b", "7c"):
            x = self.module_e(f"mixed_{name}", x)
        self.net.dense("fc", x[0], 1000)
        return self.net
