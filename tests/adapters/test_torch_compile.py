"""The PyTorch adapter under torch.compile: operators, values, backward, vmap, and what must raise."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from helpers.torch_cases import FIXED, FLOATING, MODELS, assert_same_bits, recorded, tensors  # noqa: E402
from torch.func import grad, jacfwd, jacrev, jvp, vjp, vmap  # noqa: E402
from torch.library import opcheck  # noqa: E402

from treefactor.adapters import _torch_ops, torch_  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),  # PyTorch's own uses
    pytest.mark.filterwarnings("ignore::UserWarning:torch.*"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*"),
]
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture(autouse=True)
def _fresh():
    """Forget programs that other tests compiled."""
    torch._dynamo.reset()


def compiled(function, **options):
    """Compile a whole function without generating code."""
    return torch.compile(function, backend="aot_eager", fullgraph=True, **options)


def dynamics(model):
    """Return forward dynamics of a model and the sum of its squares."""

    def function(q, v, tau):
        return torch_.forward_dynamics(model, q, v, tau)

    return function, lambda *x: function(*x).square().sum()


@pytest.mark.parametrize("kind", _torch_ops.KINDS)
@pytest.mark.parametrize(
    ("model", "size"),
    [
        pytest.param(FLOATING, (3,), id="batch"),
        pytest.param(FIXED, (0,), id="empty"),
        pytest.param(FIXED, (3,), id="batch of fixed bases", marks=pytest.mark.slow),
        pytest.param(FLOATING, (0,), id="empty of floating bases", marks=pytest.mark.slow),
    ],
)
def test_operators(kind, model, size):
    number = _torch_ops.signature("forward_dynamics", model).number
    q, v, tau, _ = tensors(model, size)
    weights = {"value": (), "vjp": (v,), "jvp": (tau, v, tau), "hvp": (v, tau, v, tau)}[kind]
    given = (q, v, tau, *weights)
    operator = getattr(torch.ops.treefactor, kind).default
    assert set(opcheck(operator, (number, list(given))).values()) == {"SUCCESS"}
    if kind != "hvp":  # a third derivative
        assert set(opcheck(operator, (number, list(recorded(*given)))).values()) == {"SUCCESS"}


@pytest.mark.parametrize("name", ["integrate", "crba", "rollout"])
def test_operators_of_other_functions(name):
    model, given = (FIXED, (("h", 0.1), ("steps", 2))) if name == "rollout" else (FLOATING, ())
    number = _torch_ops.signature(name, model, given).number
    q, v, tau, _ = tensors(model)
    arrays = {"integrate": (q, v), "crba": (q,), "rollout": (q, v, tau[:, None].repeat(1, 2, 1))}[name]
    results = opcheck(torch.ops.treefactor.value.default, (number, list(recorded(*arrays))))
    assert set(results.values()) == {"SUCCESS"}


@models
def test_values_and_gradients(model):
    q, v, tau, _ = tensors(model, (4,))
    function, loss = dynamics(model)
    assert_same_bits(compiled(function)(q, v, tau), function(q, v, tau).numpy())
    given = recorded(q, v, tau)
    own, expected = (torch.autograd.grad(f(*given), given) for f in (compiled(loss), loss))
    torch.testing.assert_close(own, expected, **CLOSE)


def test_dynamic_shapes():
    loss = dynamics(FIXED)[1]
    program = compiled(loss, dynamic=True)
    for size in (4, 7, 2):
        given = recorded(*tensors(FIXED, (size,))[:3])
        own, expected = (torch.autograd.grad(f(*given), given) for f in (program, loss))
        torch.testing.assert_close(own, expected, **CLOSE)


@models
def test_vmap(model):
    q, v, tau, _ = tensors(model, (4,))
    function = dynamics(model)[0]
    mapped = vmap(function, (0, None, 0))
    assert_same_bits(compiled(mapped)(q, v[0], tau), mapped(q, v[0], tau).numpy())
    given = recorded(q, v, tau)
    own, expected = (
        torch.autograd.grad(f(*given).square().sum(), given)
        for f in (compiled(vmap(function)), vmap(function))
    )
    torch.testing.assert_close(own, expected, **CLOSE)


@models
def test_other_functions(model):
    q, v, tau, _ = tensors(model, (2,))
    tips = [joint.name for joint in model.joints[:2]]

    def everything(q, v, tau):
        if model is FIXED:
            q, v = (x[:, -1] for x in torch_.rollout(model, q, v, tau, 0.1, 2))
        q, v = torch_.step(model, q, v, tau, 0.1)
        tip = torch_.frame_placement(model, q, tips)
        return q.square().sum() + v.sum() + tip.square().sum() + torch_.crba(model, q).sum()

    given = recorded(q, v, tau)
    own, expected = (torch.autograd.grad(f(*given), given) for f in (compiled(everything), everything))
    torch.testing.assert_close(own, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("fullgraph", [True, False], ids=["fullgraph", "graph breaks"])
@pytest.mark.parametrize("transform", [grad, jacrev, jacfwd, lambda f: vmap(grad(f))])
def test_transforms_that_are_compiled_raise(transform, fullgraph):
    given = tensors(FIXED)[:3]
    loss = dynamics(FIXED)[1]
    program = torch.compile(transform(loss), backend="aot_eager", fullgraph=fullgraph)
    with pytest.raises(
        Exception, match=r"cannot be compiled within torch\.func\.grad.*torch\.compiler\.disable"
    ):
        program(*given)


@pytest.mark.parametrize("fullgraph", [True, False], ids=["fullgraph", "graph breaks"])
@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_products_that_are_compiled_raise(kind, fullgraph):
    given = tensors(FIXED)[:3]
    function = dynamics(FIXED)[0]

    def product(*x):
        return jvp(function, x, x)[1] if kind == "jvp" else vjp(function, *x)[1](x[1])

    program = torch.compile(product, backend="aot_eager", fullgraph=fullgraph)
    with pytest.raises(
        Exception, match=r"cannot be compiled within torch\.func\.grad.*torch\.compiler\.disable"
    ):
        program(*given)


def test_what_the_error_recommends():
    given = tensors(FIXED)[:3]
    loss = dynamics(FIXED)[1]
    gradient = torch.compiler.disable(grad(loss))
    program = torch.compile(lambda *x: 2 * gradient(*x), backend="aot_eager")
    torch.testing.assert_close(program(*given), 2 * grad(loss)(*given), **CLOSE)


@pytest.mark.parametrize("strict", [True, False])
def test_exported_programs(strict):
    q, v, tau, _ = tensors(FLOATING)
    function = dynamics(FLOATING)[0]

    class Module(torch.nn.Module):
        def forward(self, *x):
            return function(*x)

    program = torch.export.export(Module(), (q, v, tau), strict=strict).module()
    assert_same_bits(program(q, v, 2 * tau), function(q, v, 2 * tau).numpy())


def test_traces_of_transforms():
    from torch.fx.experimental.proxy_tensor import make_fx

    q, v, tau, _ = tensors(FLOATING)
    gradient = grad(dynamics(FLOATING)[1])
    torch.testing.assert_close(make_fx(gradient)(q, v, tau)(q, v, 2 * tau), gradient(q, v, 2 * tau), **CLOSE)


def test_unknown_numbers_are_refused():
    q, v, tau, _ = tensors(FIXED)
    with pytest.raises(RuntimeError, match="this process has no function of number 5"):
        torch.ops.treefactor.value(5, [q, v, tau])


def test_equal_models_have_equal_numbers():
    import pickle

    other = pickle.loads(pickle.dumps(FIXED))
    assert other is not FIXED
    first, second = (_torch_ops.signature("crba", model) for model in (FIXED, other))
    assert first == second
    assert first.number != _torch_ops.signature("crba", FLOATING).number


@pytest.mark.slow
def test_generated_code():
    given = recorded(*tensors(FLOATING, (4,))[:3])
    loss = dynamics(FLOATING)[1]
    program = torch.compile(loss, fullgraph=True)
    own, expected = (torch.autograd.grad(f(*given), given) for f in (program, loss))
    torch.testing.assert_close(own, expected, **CLOSE)
