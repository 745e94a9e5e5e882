"""Terms of two models with their equalities: hash-consing, union-find and congruence closure."""

# What holds of a term (type, shape, constant) holds of all terms that are equal to it.

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import onnx

from ...ir import Array, Error, Tensor
from ...ir.io.fingerprint import digest_of_array
from .polynomials import OWN, Dim, names_in, rename, text_of

Shape = tuple[Dim, ...]
Args = tuple[int, ...]
# Attributes of an operator, serialized, in the order of their names.
Attributes = tuple[tuple[str, bytes], ...]
# Argument that a node leaves out.
ABSENT = -1
MOST_TERMS = 1 << 20
_LOOPS = ("Loop", "Scan", "SequenceMap")
# Number of the term to which a size belongs.
_TERM = re.compile(re.escape(OWN) + r"(\d+)\.")
# Operators of two operands in any order, from opset 7 on; which of two NaNs is not compared.
COMMUTATIVE = {"Add", "Mul", "And", "Or", "Xor", "Equal", "BitwiseAnd", "BitwiseOr", "BitwiseXor"}


class CertificateError(Error):
    """A certificate cannot be read, or shows nothing about two models."""


class Head(NamedTuple):
    """Function symbol: an operator of a version, or a name of the checker's own (version 0)."""

    name: str
    version: int = 0
    attributes: Attributes = ()
    outputs: int = 1
    key: Any = None

    def attribute(self, name: str, default: Any = None) -> Any:
        """Value of an attribute."""
        content = dict(self.attributes).get(name)
        if content is None:
            return default
        return onnx.helper.get_attribute_value(onnx.AttributeProto.FromString(content))

    def integer(self, name: str, default: int = 0) -> int:
        """Value of an integer attribute."""
        return int(self.attribute(name, default))

    def integers(self, name: str) -> list[int] | None:
        """Value of an attribute that lists integers."""
        value = self.attribute(name)
        return None if value is None else [int(number) for number in value]

    def changed(self, **attributes: int | list[int] | None) -> "Head":
        """Head with integer attributes of other values, or without them."""
        every = {key: content for key, content in self.attributes if key not in attributes}
        for key, value in attributes.items():
            if value is not None:
                message = onnx.helper.make_attribute(key, value)
                every[key] = message.SerializeToString(deterministic=True)
        return self._replace(attributes=tuple(sorted(every.items())))


class Fact(NamedTuple):
    """Type and shape of a tensor; 0 and None where unknown."""

    elem_type: int = 0
    shape: Shape | None = None

    def text(self) -> str:
        """Text of the fact in a certificate."""
        name = onnx.TensorProto.DataType.Name(self.elem_type).lower() if self.elem_type else "?"
        if self.shape is None:
            return name
        return f"{name}[{','.join(map(text_of, self.shape))}]"


UNKNOWN = Fact()


def is_own(dim: Dim) -> bool:
    """Test for a size that no input names."""
    return isinstance(dim, str) and dim.startswith(OWN)


def require_unique(names: Sequence[object], what: str) -> None:
    """Require that no name stands for two things."""
    if len({*names}) < len(names):
        raise CertificateError(f"two {what} have one name")


class Node(NamedTuple):
    """Term: an output of a head applied to terms, with its fact when it was built."""

    head: Head
    args: Args
    output: int
    fact: Fact


class Parts(NamedTuple):
    """Parts of the node of a loop."""

    operands: Args
    variables: Args
    outputs: Args


def parts(node: Node) -> Parts:
    """Operands of a loop, and the variables and outputs of its body."""
    _, count, first, _, *_ = node.head.key[-1]
    last, args = first + count, node.args
    return Parts(args[:first], args[first:last], args[last:])


# Function that defines an operator: terms, node, its attributes, opsets and operands to data.
Define = Callable[..., onnx.FunctionProto | None]


class Terms:
    """Terms by number in the order of their construction, and the classes of equal ones."""

    # `merges` counts classes that were joined and sizes that were learned, `changed` names those
    # classes since it was read, `elements` holds small integers by class, `known` the sums and
    # products that are sizes of tensors of the original, `free` constants that nothing has read,
    # `table` the terms by their keys.
    # `states` holds for each term what stays until more is known of sizes.
    # Where `is_real`, terms are equal over the reals, and nothing is folded that rounds.

    def __init__(self, define: Define = lambda *question: None) -> None:
        self.define, self.nodes, self.states = define, list[Node](), list[tuple[int, int]]()
        self.merges, self.changed = 0, set[int]()
        self.known: set[Dim] = set()
        self.elements, self.constants = dict[int, Array](), dict[int, Tensor]()
        self.free, self.closed = set[int](), set[int]()
        self.implied, self.cut = list[tuple[int, int, int]](), list[int]()
        self.written, self.shorter = dict[int, int](), dict[int, int]()
        self.iterated = dict[Any, tuple[set[int], list[int]]]()
        self.infer: Callable[[Terms, int], None] = lambda terms, number: None
        self._stale: list[int] = []
        self.is_exact, self.is_frozen, self.is_real = True, False, False
        self._frozen: list[int] = []
        self._parent: list[int] = []
        self._members: list[list[int]] = []
        self._users: list[list[int]] = []
        self._facts: list[Fact] = []
        self.table: dict[tuple[Head, int, Args], int] = {}
        self._tensors: dict[int, int] = {}
        self._dims: dict[Dim, Dim] = {}
        self._named, self.rounded = dict[int, tuple[Fact, int]](), dict[bytes, bytes]()

    def find(self, term: int) -> int:
        """Representative of the class of a term."""
        parent = self._parent
        while parent[term] != term:
            # Path halving: without it a chain of merges makes each look-up linear.
            parent[term] = parent[parent[term]]
            term = parent[term]
        return term

    def members(self, term: int) -> Iterator[int]:
        """Terms of the class of a term."""
        return iter(list(self._members[self.find(term)]))

    def freeze(self) -> None:
        """Let terms be equal up to signs of zeros; those that are equal by now stay exact."""
        if not self.is_frozen:
            self.is_exact, self.is_frozen = False, True
            self._frozen = [self.find(number) for number in range(len(self.nodes))]
            # The keys change: up to now equal terms shared one key, from now on only those that are
            # equal bit for bit may stand for each other below operators that tell zeros apart.
            self.table.clear()
            for number, node in enumerate(self.nodes):
                self.table.setdefault(self.key(node), number)

    def exact(self, term: int) -> int:
        """Mark that terms share which are equal bit for bit: those without zeros are, by values."""
        tensor = self.tensor(term) if self.is_frozen else None
        whole = not self.is_frozen or (tensor is not None and bool(tensor.numpy().all()))
        if whole or is_clear(self, term):
            return self.find(term)
        return -2 - (self._frozen[term] if term < len(self._frozen) else term)

    def operators(self, term: int, *names: str) -> Iterator[Node]:
        """First outputs of some operators in the class of a term."""
        for member in self.members(term) if term != ABSENT else ():
            node = self.nodes[member]
            if node.head.name in names and node.output == 0:
                yield node

    def fact(self, term: int) -> Fact:
        """Fact of the class of a term."""
        if term == ABSENT:
            return UNKNOWN
        root, count = self.find(term), len(self._dims)
        elem_type, shape = fact = self._facts[root]
        if shape is not None and self._named.get(root) != (fact, count):
            fact = self._facts[root] = Fact(elem_type, tuple(map(self.dim, shape)))
            self._named[root] = fact, count  # its sizes have no newer names
        return fact

    def value(self, term: int) -> int:
        """Constant in the class of a term."""
        return ABSENT if term == ABSENT else self._tensors.get(self.find(term), ABSENT)

    def tensor(self, term: int) -> Tensor | None:
        """Value of the class of a term, if that is a constant."""
        number = self.value(term)
        self.free.discard(number)
        return self.constants.get(number)

    def arrays(self, args: Args) -> list[Array | None]:
        """Values of arguments that are constants."""
        return [None if (t := self.tensor(arg)) is None else t.numpy() for arg in args]

    def numbers(self, term: int) -> list[int] | None:
        """Elements of a small constant of integers."""
        tensor = self.tensor(term)
        array = None if tensor is None or tensor.size > 1 << 12 else tensor.numpy()
        is_list = array is not None and array.dtype.kind in "iu"
        return [int(n) for n in array.reshape(-1)] if array is not None and is_list else None

    def key(self, node: Node) -> tuple[Head, int, Args]:
        """Key that equal applications share."""
        head, args = node.head, tuple([n if n == ABSENT else self.find(n) for n in node.args])
        if self.is_frozen:
            same = [n == ABSENT or carries(self, node, k) for k, n in enumerate(node.args)]
            args = tuple([a if same[k] else self.exact(node.args[k]) for k, a in enumerate(args)])
        # Before opset 7 `broadcast` lets the second operand alone be smaller: the operands differ
        # in role.
        if len(args) == 2 and head.name in COMMUTATIVE and head.version >= 7:
            args = (min(args), max(args))
        return head, node.output, args

    def has(self, head: Head, args: Args, output: int) -> bool:
        """Test for a term of an operator on equal operands."""
        return self.key(Node(head, args, output, UNKNOWN)) in self.table

    def add(self, head: Head, args: Args = (), fact: Fact = UNKNOWN, output: int = 0) -> int:
        """Number of a term, which is built if there is none like it."""
        # Its unknown sizes get names of their own: each is one number for given values of the
        # variables in the term.
        # Absent operands at the end mean the same as none.
        while args and args[-1] == ABSENT:
            args = args[:-1]
        node = Node(head, args, output, fact)
        key = self.key(node)
        twin = self.table.get(key)
        if twin is not None:
            self.learn(twin, fact)
            return twin
        number = len(self.nodes)
        # A certificate is data from elsewhere: a hostile one may not use up the memory of who
        # checks it.
        if number >= MOST_TERMS:
            raise CertificateError(f"there are more than {MOST_TERMS} terms")
        self.table[key] = number
        sizes = enumerate(fact.shape or ())
        own = tuple([f"{OWN}{number}.{k}" if dim is None else dim for k, dim in sizes])
        fact = Fact(fact.elem_type, None if fact.shape is None else own)
        self.nodes.append(node._replace(fact=fact))
        self.states.append((self.merges, len(self.known)))
        self.closed |= {number} if args and self.closed.issuperset(args) else set()
        self._parent.append(number)
        self._members.append([number])
        self._users.append([])
        self._facts.append(fact)
        for arg in {self.find(arg) for arg in args if arg != ABSENT}:
            self._users[arg].append(number)
        return number

    def constant(self, content: Tensor | Array, *, is_free: bool = False) -> int:
        """Term of a constant; equal ones have the same type, shape and bytes."""
        # A free one is new, and its value counts for nothing until it is read.
        tensor = content if isinstance(content, Tensor) else Tensor(array=content)
        fact = Fact(tensor.elem_type, tuple(tensor.dims))
        digest = digest_of_array(tensor.numpy()).hex()
        number = self.add(Head("constant", key=f"{digest} {fact.text()}"), fact=fact)
        self.free -= set() if is_free else {number}
        self.free |= {number} if is_free and number not in self.constants else set()
        self.constants.setdefault(number, tensor)
        self.closed.add(number)
        self._tensors.setdefault(self.find(number), number)
        return number

    def forget(self, constant: int) -> None:
        """Make a free constant a symbol: terms of its value are other ones from now on."""
        self.free.remove(constant)
        del self._tensors[self.find(constant)], self.table[self.key(self.nodes[constant])]

    def merge(self, one: int, other: int) -> None:
        """Make two terms equal, and all terms that follow by congruence."""
        waiting = [(one, other)]
        while waiting:
            a, b = map(self.find, waiting.pop())
            if a == b:
                continue
            # The smaller class moves, so each term moves at most log n times.
            if len(self._users[a]) < len(self._users[b]):
                a, b = b, a
            self.merges += 1
            self.changed.add(a)
            numbers = [array for array in self.arrays((a, b)) if array is not None]
            # No rule may make 1 equal to 2. A certificate that would is wrong, and so would be all
            # that follows from it.
            if len(numbers) > 1 and (self.is_exact or not np.array_equal(numbers[0], numbers[1])):
                raise CertificateError("two different constants would be equal")
            # The keys by which the table knows these users, before the merge changes them.
            users = [*self._users[b], *(self._users[a] if b in self._tensors else ())]
            stale = [self.key(self.nodes[number]) for number in users]
            if b in self._tensors:
                self._tensors[a] = self._tensors.pop(b)
            self._parent[b] = a
            self._members[a] += self._members[b]
            self.learn(a, self._facts[b])
            for number, key in zip(users, stale, strict=True):
                if self.table.get(key) == number:
                    del self.table[key]
                twin = self.table.setdefault(self.key(self.nodes[number]), number)
                if twin != number:
                    waiting.append((twin, number))
            self._users[a] += self._users[b]
            self._members[b], self._users[b] = [], []
        while self._stale:
            self.infer(self, self._stale.pop())

    def is_size(self, dim: Dim) -> bool:
        """Test for a number that a tensor can have as a size."""
        # Sums and products may wrap, unless a tensor of the original has them as a size.
        if isinstance(dim, tuple):
            return dim in map(self.dim, self.known)
        return dim is not None and (isinstance(dim, str) or dim >= 0)

    def outside(self, fact: Fact, level: int | None = None) -> Fact:
        """Fact without sizes that depend on variables of a body, or on more than inputs."""
        dims = [dim if self._is_outside(dim, level) else None for dim in fact.shape or ()]
        return Fact(fact.elem_type, None if fact.shape is None else tuple(dims))

    def _is_outside(self, dim: Dim, level: int | None) -> bool:
        numbers = [int(n) for name in names_in(dim) if is_own(name) for n in _TERM.findall(name)]
        if level is None:
            return all(self.nodes[number].head.name == "input" for number in numbers)
        return all(self.is_closed(number, level) for number in numbers)

    def is_closed(self, term: int, level: int, *numbers: int) -> bool:
        """Test for a term without variables of a body, but for some."""
        return all(at in numbers for at in self.unbound(term, level))

    def unbound(self, term: int, level: int) -> Iterator[int]:
        """Variables of bodies around a term, and sizes that may depend on them."""
        # A loop binds the variables of its level, wherever it is used.
        visited, stack = set[tuple[int, int]](), [(term, MOST_TERMS)]
        while stack:
            at, bound = stack.pop()
            if at == ABSENT or (at, bound) in visited:
                continue
            visited.add((at, bound))
            head, args, *_ = self.nodes[at]
            is_free = head.name == "variable" and level <= head.key[0] < bound
            if head.name == "elements" or is_free:
                yield at
            own = [self.nodes[arg].head.key[0] for arg in self.variables(at)]
            first = head.key[-1][2] if own else len(args)
            stack += [(arg, bound) for arg in args[:first]]
            stack += [(arg, min([bound, *own])) for arg in args[first:]]

    def variables(self, term: int) -> Args:
        """Variables of the body of a loop."""
        head = self.nodes[term].head if term != ABSENT else Head("")
        is_loop = head.name in _LOOPS and head.key is not None
        return parts(self.nodes[term]).variables if is_loop else ()

    def learn(self, term: int, fact: Fact) -> None:
        """Join the fact of the class of a term with another one."""
        root = self.find(term)
        old = self._facts[root]
        if fact is old or fact == UNKNOWN:
            return
        elem_type = old.elem_type or fact.elem_type
        shapes = [shape for shape in (old.shape, fact.shape) if shape is not None]
        if fact.elem_type not in (0, elem_type) or len({*map(len, shapes)}) > 1:
            raise CertificateError("terms of different types or ranks would be equal")
        dims = zip(shapes[0], shapes[-1], strict=True) if shapes else ()
        joined = tuple([self.join(one, other) for one, other in dims])
        self._stale += self._users[root] if (len(shapes) == 1) else []
        self.merges += (old.elem_type, old.shape is None) != (elem_type, not shapes)
        self._facts[root] = Fact(elem_type, joined if shapes else None)
        self.changed.add(root)

    def dim(self, dim: Dim) -> Dim:
        """Size by other names that are equal, where it has names of the checker's own."""
        if isinstance(dim, int | None) or not self._dims:
            return dim
        while dim != (renamed := rename(dim, self._dims)):
            dim = renamed
        return dim

    def join(self, one: Dim, other: Dim) -> Dim:
        """One size of two that are equal wherever the terms are defined."""
        # A size without a name of an input gets the other one; those that inputs name are not made
        # equal, since the terms may be in a branch that is never taken.
        a, b = self.dim(one), self.dim(other)
        if a is None or b is None or a == b:
            return b if a is None else a
        if isinstance(a, int) and isinstance(b, int):
            raise CertificateError("terms of different sizes would be equal")
        for size, same in ((a, b), (b, a)):
            if is_own(size) and size in names_in(size) - names_in(same):
                self._dims[size] = same
                self.merges += 1
                return same
        return a if isinstance(a, int) else b


# Signs of zeros: which operators carry equal values to equal values, and which terms have no sign.
#
#    y = Div (x, d)     -0.0 in place of 0.0 in x changes zeros of y, in d it changes infinities
#
# Where a sign matters, equal values are equal bit for bit if no sign bit is set.


def names(text: str) -> frozenset[str]:
    """Names that a text lists."""
    return frozenset(text.split())


_CARRYING = names("""Abs Add AveragePool Cast Clip Concat Conv ConvTranspose Cos CumSum Elu Equal
    Erf Exp Expand Flatten Gather GatherElements GatherND Gelu Gemm GlobalAveragePool Greater
    GreaterOrEqual HardSwish Identity If InstanceNormalization IsNaN LayerNormalization LeakyRelu
    Less LessOrEqual Log LogSoftmax MatMul Max MaxPool Mean Min Mish Mul Neg PRelu Pad
    RMSNormalization ReduceL2 ReduceMax ReduceMean ReduceMin ReduceSum ReduceSumSquare Relu Reshape
    ScatterElements ScatterND Shape Sigmoid Sin Slice Softmax Softplus Split Sqrt Squeeze Sub Sum
    Tanh Tile Transpose Unsqueeze Where moved""")
# Operators whose results have no sign bit, whatever their operands.
_CLEAR = names("Abs Exp ReduceL2 ReduceSumSquare Sigmoid Softmax")
_MOVING = names("""Expand Identity ReduceMean ReduceSum Reshape Sqrt Squeeze Transpose Unsqueeze
    moved""")
# Operators whose results have no sign bit if their operands, or the first one, have none.
_KEEPING = names("Add Div Mul Sum") | _MOVING
# Element types that may have signs of zeros; 0 is an unknown one.
_FLOATS = (0, 1, 10, 11, 16)
_MOST_DEPTH = 12


def carries(terms: Terms, node: Node, position: int) -> bool:
    """Test for an operand whose signs of zeros reach only zeros of the result."""
    name, fact = node.head.name, terms.fact(node.args[position])
    if fact.elem_type not in _FLOATS or name in _CARRYING:
        return name != "Cast" or node.head.integer("to") != 8  # not texts
    if name == "Pow":  # a zero to a power above 0 is a zero
        powers = terms.tensor(node.args[1])
        return position == 0 and powers is not None and bool((powers.numpy() > 0).all())
    return name in ("Div", "Resize") and position == 0


def carries_all(terms: Terms, node: Node) -> bool:
    """Test for a term whose operands may be others with the same values."""
    places = [place for place, arg in enumerate(node.args) if arg >= 0]
    return not terms.is_frozen or all(carries(terms, node, place) for place in places)


def is_clear(terms: Terms, term: int, depth: int = 0) -> bool:
    """Test for a term without a sign bit, but for that of a NaN."""
    if depth > _MOST_DEPTH:
        return False
    node, tensor = terms.nodes[term], terms.constants.get(term)
    if tensor is not None:
        return not np.signbit(tensor.numpy()).any()
    name, args = node.head.name, node.args
    if name in _CLEAR or (name == "Mul" and args[0] == args[1]):
        return True
    if name == "Pow" and (powers := terms.tensor(args[1])) is not None:
        return bool((powers.numpy() % 2 == 0).all()) or is_clear(terms, args[0], depth + 1)
    count = 1 if name in _MOVING else len(args)
    return name in _KEEPING and all(is_clear(terms, arg, depth + 1) for arg in args[:count])
