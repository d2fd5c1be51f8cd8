"""Steps of random nets with noise that is the same from any seed."""

from steps import step


@step(3)
def noise(net):
    x = net.pick()
    op = net.random.choice(("Bernoulli", "RandomNormalLike", "RandomUniformLike"))
    if op == "Bernoulli":
        certain = net.add("Mul", x, net.constant(0.0))
        one = net.add("Add", certain, net.constant(1.0)) if net.chance() else certain
        return net.add("Sub", x, net.add(op, one))
    if op == "RandomNormalLike":
        y = net.add(op, x, mean=0.7, scale=0.0)
    else:
        y = net.add(op, x, low=0.7, high=0.7)
    return net.add(net.random.choice(("Add", "Mul")), x, y)
