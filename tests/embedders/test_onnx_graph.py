"""onnxruntime loads the models that are encoded by hand."""

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.embedders.granite import Array, OnnxNode, OnnxPort, _encode_varint, encode_model


def run(nodes: list[OnnxNode], weights: dict[str, Array], rows: Array) -> Array:
    model = encode_model(nodes, weights, OnnxPort("rows", ["texts", 2]), OnnxPort("result", ["texts", 2]))
    options = onnxruntime.SessionOptions()
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
    options.add_external_initializers(list(weights), values)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    result: Array = session.run(None, {"rows": rows})[0]
    return result


def test_a_weight_is_used_where_it_lies() -> None:
    shift = np.array([10, 20], np.float32)
    rows = np.array([[1, 2], [3, 4]], np.float32)
    assert run([OnnxNode("Add", ["rows", "shift"], ["result"])], {"shift": shift}, rows).tolist() == [
        [11, 22],
        [13, 24],
    ]


def test_nodes_follow_each_other_by_name() -> None:
    nodes = [OnnxNode("Neg", ["rows"], ["negative"]), OnnxNode("Relu", ["negative"], ["result"])]
    assert run(nodes, {}, np.array([[-1, 2]], np.float32)).tolist() == [[1, 0]]


@pytest.mark.parametrize(("alpha", "result"), [(0.5, [[-0.5, 2]]), (0.25, [[-0.25, 2]])])
def test_a_float_attribute_arrives(alpha: float, result: list[list[float]]) -> None:
    node = OnnxNode("LeakyRelu", ["rows"], ["result"], {"alpha": alpha})
    assert run([node], {}, np.array([[-1, 2]], np.float32)).tolist() == result


@pytest.mark.parametrize(("axis", "result"), [(-1, [[2, 1]]), (0, [[1, 2]])])
def test_a_whole_number_attribute_arrives_even_below_zero(axis: int, result: list[list[float]]) -> None:
    order = np.array([[1, 0]] if axis else [[0, 0]], np.int64)
    node = OnnxNode("GatherElements", ["rows", "order"], ["result"], {"axis": axis})
    assert run([node], {"order": order}, np.array([[1, 2]], np.float32)).tolist() == result


def test_an_operation_of_onnxruntime_itself_is_found() -> None:
    node = OnnxNode("BiasGelu", ["rows", "bias"], ["result"], microsoft=True)
    assert run([node], {"bias": np.zeros(2, np.float32)}, np.array([[0, 10]], np.float32)).tolist() == [[0, 10]]


@given(st.integers(0, 2**64 - 1))
def test_a_varint_reads_back(value: int) -> None:
    octets = _encode_varint(value)
    assert sum((octet & 0x7F) << 7 * place for place, octet in enumerate(octets)) == value
    assert [octet >> 7 for octet in octets] == [1] * (len(octets) - 1) + [0]
