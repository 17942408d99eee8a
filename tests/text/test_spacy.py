"""Names by spaCy, all else by rules. All but the last test use a fake model."""

import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from cofire.errors import EmbedderUnavailable
from cofire.model import Fact
from cofire.text import rule_reader
from cofire.text.rule_reader import DEFAULT_SPACY_MODEL, SpacyReader, load_spacy_model


class Recogniser:
    """Knows the words it was told, with their labels."""

    def __init__(self, labels: dict[str, str]) -> None:
        self.labels = labels

    def pipe(self, texts):
        return [
            SimpleNamespace(
                ents=[SimpleNamespace(text=word, label_=label) for word, label in self.labels.items() if word in text]
            )
            for text in texts
        ]


def reader(monkeypatch: pytest.MonkeyPatch, **labels: str) -> SpacyReader:
    monkeypatch.setattr(rule_reader, "load_spacy_model", lambda model: Recogniser(labels))
    return SpacyReader()


def test_entities_take_the_place_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    found = reader(monkeypatch, ana="PERSON").read(Fact("yesterday ana met Bob"))
    assert [(mention.name, mention.kind) for mention in found.mentions] == [("ana", "name")]


def test_dates_amounts_and_peoples_are_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    found = reader(monkeypatch, Monday="DATE", five="CARDINAL", Swiss="NORP").read(Fact("on Monday five Swiss came"))
    assert found.mentions == ()


def test_works_of_art_are_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    found = reader(monkeypatch, Dune="WORK_OF_ART").read(Fact("we read Dune"))
    assert [mention.kind for mention in found.mentions] == ["title"]


def test_code_stays_with_the_rules_and_so_does_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    found = reader(monkeypatch).read(Fact("max_connections is 5 because Ana said so"))
    assert [mention.name for mention in found.mentions] == ["max connections"]
    assert [cause.cause for cause in found.causes] == ["Ana said so"]
    assert found.subjects[0].name == "max connections"


def test_model_is_loaded_once_and_only_when_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(rule_reader, "load_spacy_model", lambda model: loaded.append(model) or Recogniser({}))
    spacy_reader = SpacyReader("some_model")
    assert loaded == []
    spacy_reader.read(Fact("one"))
    spacy_reader.read(Fact("two"))
    assert loaded == ["some_model"]


def test_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(EmbedderUnavailable, match=r"\[spacy\]"):
        SpacyReader().read(Fact("we met Ana"))


def test_missing_model_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(model: str, exclude: tuple[str, ...]) -> None:
        raise OSError(f"[E050] Can't find model '{model}'")

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=refuse))
    with pytest.raises(EmbedderUnavailable, match="Install no_such_model"):
        load_spacy_model("no_such_model")


@pytest.mark.optional
@pytest.mark.skipif(
    find_spec("spacy") is None or find_spec(DEFAULT_SPACY_MODEL) is None, reason="spaCy and its model are not installed"
)
def test_the_real_model_knows_people_and_places() -> None:
    found = SpacyReader().read(Fact("Angela Merkel visited Paris with Emmanuel Macron."))
    assert {"angela merkel", "paris", "emmanuel macron"} <= {mention.name for mention in found.mentions}
