"""The driver of passes that rewrite one construct after the other.

A pass visits a site, and either tells what it did there, or raises the obstacle, which becomes a
remark:

    def visit(self, site):
        loop_view = read(site.node)     # may raise an Obstacle
        ...
        site.rewritten(_HOISTED(nodes=2))
"""

import abc
from collections.abc import Iterable
from typing import ClassVar

from ...analysis.constants.folding import Folder
from ...analysis.safety.speculation import Speculation
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.nonzero_iterations import runs_certainly
from ...facts.obstacle import Obstacle, require_none
from ...facts.reason import Message
from ...ir import Graph, Model, Node
from ...ir.lazy import lazy_property
from ...ops.batching import Unbatchable
from ...ops.builder import RewriteError
from ..base import Pass, PassContext
from .legality import sizes_in_branch
from .traversal import inside_out

_MOST_VISITS = 1000
"""The limit of rewrites of one site in one run, beyond which they repeat each other."""
_IT = Message("site-kept", "it {cause}")
_REPEATS = Message("rewrite-repeats", "{visits} rewrites of it did not come to an end")


class SitePass(Pass):
    """A pass that rewrites constructs one by one, inner ones before outer ones.

    Attributes:
        sites: the operators of its constructs; those that it works on by default.
        predicate: the message that makes a sentence of what a scratch graph cannot hold; a pass
            that works in none keeps the default, and what it cannot write is a fault.
        repeats: true if a site is visited again after a rewrite, until nothing is left to do.
        keeps_facts_of_others: false if each rewrite makes the facts of other sites stale.
        dissolves_loops: true if sizes become known that a Loop hides.
    """

    sites: ClassVar[tuple[str, ...]] = ()
    predicate: ClassVar[Message] = _IT
    repeats: ClassVar[bool] = False
    keeps_facts_of_others: ClassVar[bool] = True
    dissolves_loops: ClassVar[bool] = False

    def run(self, model: Model, context: PassContext) -> bool:
        """Visit inner sites before outer ones."""
        return Visits(self, model, context).run()

    @abc.abstractmethod
    def visit(self, site: "Site") -> None:
        """Rewrite a site, unless it does not concern the pass.

        Raises:
            Obstacle: the reason for keeping the site, before it changes.
        """


class Visits:
    """One run of a pass over the sites of a model.

    Attributes:
        later: sites to visit once more after all others, if they are still there.
        revisits: true to visit all sites once more, since there are new ones.
    """

    def __init__(self, pass_: SitePass, model: Model, context: PassContext) -> None:
        self.pass_ = pass_
        self.model = model
        self.context = context
        self.later: list[Site] = []
        self.revisits = False
        self.rewrites = 0
        self.op_types = pass_.sites or pass_.works_on or ()
        self._speculation: Speculation | None = None

    @lazy_property
    def folder(self) -> Folder:
        """The folder of the model's nodes."""
        return Folder(self.model)

    @property
    def inference(self) -> ShapeInference:
        """The facts of the model's values."""
        return self.context.inference(self.model)

    @property
    def speculation(self) -> Speculation:
        """The test for nodes that may fail."""
        # A rewrite may have replaced the facts that the test rests on.
        if self._speculation is None or self._speculation.inference is not self.inference:
            self._speculation = Speculation(self.inference, self.model.functions)
        return self._speculation

    def run(self) -> bool:
        """Visit all sites, and return whether one was rewritten."""
        while True:
            self.revisits = False
            for graph, node in inside_out(self.model.graphs(), *self.op_types):
                self.visit(Site(graph, node, self))
            graphs = set(self.model.graphs()) if self.later else ()
            for site in self.later:
                if site.node.graph in graphs:
                    self.visit(site)
            if not self.revisits:
                return self.rewrites > 0
            # The next round visits all sites, and says again why each one stays.
            self.context.remarks.forget_kept(self.pass_)
            self.context.analyses.invalidate(False)

    def visit(self, site: "Site") -> None:
        """Visit one site, and remark the obstacle."""
        for _ in range(_MOST_VISITS):
            before = self.rewrites
            try:
                self._rewrite(site)
            except Obstacle as obstacle:
                site.kept(obstacle.reason)
                return
            if self.rewrites == before:
                return
            if not self.pass_.keeps_facts_of_others:
                self.context.analyses.invalidate(False)
            if not self.pass_.repeats:
                return
        site.noted(_REPEATS(visits=_MOST_VISITS))

    def _rewrite(self, site: "Site") -> None:
        if self.pass_.dissolves_loops:
            require_none(sizes_in_branch(site.graph, site.node, self.inference))
        try:
            self.pass_.visit(site)
        except (Unbatchable, RewriteError) as why:
            if isinstance(why, RewriteError) and self.pass_.predicate is _IT:
                raise
            raise Obstacle(self.pass_.predicate(str(why))) from why


class Site:
    """A construct that a pass visits.

    Attributes:
        path: the path of the construct, also once it is gone.
    """

    def __init__(self, graph: Graph, node: Node, visits: Visits) -> None:
        self.graph = graph
        self.node = node
        self.path = node.path
        self.visits = visits
        self.model, self.context = visits.model, visits.context

    @property
    def inference(self) -> ShapeInference:
        """The facts of the model's values."""
        return self.visits.inference

    @property
    def is_certain(self) -> bool:
        """Test for a Loop or Scan with a first iteration for any feeds."""
        return runs_certainly(self.node, self.visits.speculation.outside)

    def holds(self, *op_types: str) -> bool:
        """Test for nodes of some operators in a body of the construct's own."""
        return "body" in self.node.bodies and bool(self.node.body("body").nodes_of(*op_types))

    def rewritten(self, what: str) -> None:
        """Remark a rewrite of the site."""
        self.visits.rewrites += 1
        self.context.rewritten(self.visits.pass_, self.node, self.path, what)

    def kept(self, why: str) -> None:
        """Remark why the site stays."""
        self.context.kept(self.visits.pass_, self.node, why)

    def noted(self, what: str) -> None:
        """Remark what the user should know about the site."""
        self.context.noted(self.visits.pass_, self.node, what)

    def visit_new(self, nodes: Iterable[Node]) -> None:
        """Visit sites among the nodes that a rewrite added to the graph."""
        for node in nodes:
            if node.is_op(*self.visits.op_types):
                self.visits.visit(Site(self.graph, node, self.visits))
