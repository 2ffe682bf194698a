"""What hangs on the wording of a text is found; what hangs on a code is not."""

from __future__ import annotations

import pytest
import sentences

DECIDING = {
    "a sentence": "x = rule == 'URL too long'",
    "a sentence, the other way round": "x = 'URL too long' != rule",
    "a sentence at the beginning": "x = line.startswith('the URL is')",
    "a sentence among others": "x = rule in {'ok', 'URL too long'}",
    "a sentence in a match": "match rule:\n    case 'URL too long':\n        x = 1",
    "a word in a reason": "x = visit.reason == 'gone'",
    "part of a reason": "x = visit.reason.startswith('to ')",
    "a reason, in lower case": "x = visit.reason.lower() == 'gone'",
    "the beginning of a reason": "x = reason[:4] == 'gone'",
    "a reason in a row": "x = row['reason'] == 'gone'",
    "a reason taken apart": "x = reason.partition(':')[0]",
    "a prefix that is cut off": "x = record.reason.removeprefix(TO)",
    "a reason that is matched": "x = re.match('gone', self._reason)",
    "a reason in a match": "match self.reason:\n    case 'gone':\n        x = 1",
    "a reason that is looked up": "TABLE = {'gone': 1}\nx = TABLE[record.reason]",
    "a reason that is looked up, or not": "TABLE = {'gone': 1}\nx = TABLE.get(record.reason)",
    "a constant": "GONE = 'gone'\nx = record.reason == GONE",
    "a constant of a class": "class Code:\n    GONE = 'gone'\nx = record.reason == Code.GONE",
    "a set of constants": "GONE = 'gone'\nALL = frozenset({GONE})\nx = record.reason in ALL",
    "a constant of another module": "from ultracrawl.texts import GONE\nx = record.reason == GONE",
    "a constant through a module": "from ultracrawl import texts\nx = record.reason == texts.GONE",
    "the text of an exception": "try:\n    pass\nexcept OSError as broken:\n    x = 'room' in str(broken)",
    "the text of an exception, in a list": "x = str(error) in problems",
    "the text of an argument that is an exception": "def use(it: OSError | str):\n    x = str(it) in problems",
    "what an exception was made of": "x = error.args[0] == 'room'",
    "SQL that looks for a text": "x = 'SELECT 1 FROM url WHERE reason LIKE ?'",
    "SQL that takes a text apart": "x = 'SELECT substr(leaving, 1, 3) FROM url'",
}
HARMLESS = {
    "a code": "x = record.code == 404",
    "a member of an enum": "class Cause(StrEnum):\n    GONE = 'is gone now'\nx = visit.cause == Cause.GONE",
    "whether there is a reason": "x = record.reason == ''",
    "two reasons beside each other": "x = one.reason == other.reason",
    "a part of a message that is no text": "x = message['kind'] == 'gone'",
    "a word that is no reason": "x = kind == 'gone'",
    "a reason that is shown": "print(f'{reason}: {error}'.strip())",
    "blanks of a text": "x = ' '.join(str(error).split())",
    "a question to a person": "x = getpass('Once more: ') != password",
    "a docstring": "def use():\n    'WHERE reason LIKE'",
    "SQL that writes a text": "x = 'UPDATE url SET reason=? WHERE id=?'",
    "a method of an expression": "x = line.startswith('%PDF-')",
    "punctuation": "x = text == ', '",
}


def found_in(grow, text):
    tree = grow({"ultracrawl/one.py": f"{text}\n", "ultracrawl/texts.py": "GONE = 'gone'\n"})
    return [str(one) for one in sentences.deciding_texts(tree)]


@pytest.mark.parametrize("case", DECIDING)
def test_a_text_that_decides_is_found(grow, case):
    found = found_in(grow, DECIDING[case])
    assert len(found) == 1
    assert found[0].startswith("ultracrawl/one.py:")


@pytest.mark.parametrize("case", HARMLESS)
def test_what_hangs_on_no_text_passes(grow, case):
    assert found_in(grow, HARMLESS[case]) == []


def test_a_mark_with_its_reason_excuses_the_line(grow):
    assert found_in(grow, "x = 'room' in str(error)  # sentence: the library has no code for it") == []
    assert len(found_in(grow, "x = 'room' in str(error)  # sentence:")) == 1


def test_a_mark_that_excuses_nothing_is_found(grow):
    assert found_in(grow, "x = 1  # sentence: not any more") == [
        "ultracrawl/one.py:1: the mark `sentence:` excuses nothing"
    ]


def test_the_command_fails_if_it_finds_anything(grow, capsys):
    tree = grow({"ultracrawl/one.py": "x = 1\ny = visit.reason == 'gone'\n"})
    assert sentences.main(["--tree", str(tree.root)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("ultracrawl/one.py:2: compares `visit.reason`: visit.reason == 'gone'\n1 places")
    tree = grow({"ultracrawl/one.py": "x = 1\n"})
    assert sentences.main(["--tree", str(tree.root)]) == 0
    assert capsys.readouterr().out == ""
