"""The nodes of an exported model: which modules of the network they are, and what reads its
parameters."""

import dataclasses

from syncline.torch import layers


@dataclasses.dataclass(frozen=True)
class Node:
    name: str
    kind: str  # the operator
    inputs: list
    outputs: list


class Graph:
    """The file's nodes in order, and its tensors."""

    def __init__(self, file):
        import onnx

        graph = onnx.load(str(file), load_external_data=False).graph
        self.nodes = [
            Node(node.name, node.op_type, [name for name in node.input if name], list(node.output))
            for node in graph.node
        ]
        self.tensors = [each.name for each in graph.initializer]

    def readers(self):
        """The nodes that compute with each tensor, whatever shape it was given before."""
        # Values that are computed from tensors alone, and from which.
        known = {name: {name} for name in self.tensors}
        found = {name: [] for name in self.tensors}
        for node in self.nodes:
            if all(name in known for name in node.inputs):
                of = set().union(*(known[name] for name in node.inputs))
                known.update(dict.fromkeys(node.outputs, of))
                continue
            for tensor in set().union(*(known.get(name, ()) for name in node.inputs)):
                found[tensor].append(node)
        return found

    def blocks(self, model, times):
        """The nodes with names as (module, nodes): a block begins where a node reads parameters of
        another module that was called. Of the modules that share a parameter it is each one's in
        the order of calls."""
        owners = owners_of(model, times.modules)
        reads = {}
        for tensor, readers in self.readers().items():
            for node in readers:
                reads.setdefault(node.name, set()).update(owners.get(tensor, ()))
        left, blocks = list(times.calls), []
        for node in self.nodes:
            if not node.name or node.kind == "Constant":
                continue
            found = reads.get(node.name)
            if found and not (blocks and blocks[-1][0] in found):
                called = next((path for path in left if path in found), min(found))
                if called in left:
                    left.remove(called)
                blocks.append((called, []))
            if not blocks:
                blocks.append((None, []))
            blocks[-1][1].append(node)
        if len(blocks) > 1 and blocks[0][0] is None:  # before the first module with parameters
            (_, nodes), (module, more) = blocks[:2]
            blocks[:2] = [(module, nodes + more)]
        return blocks


def owners_of(model, modules):
    """The modules among those that were called which compute with each parameter, by its name."""
    first = {id(each): name for name, each in model.named_parameters()}
    owners = {}
    for path, module in model.named_modules():
        caller = layers.caller_of(path, modules)
        for each in module.parameters(recurse=False):
            if caller in modules:
                owners.setdefault(first[id(each)], set()).add(caller)
    return owners
