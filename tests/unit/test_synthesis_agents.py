"""The two agents: what they are shown, what is read from their replies, what never gets in."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mtrlib.data.authored.wording import CopyCheck
from mtrlib.data.schema import Passage, Utterance
from mtrlib.errors import InputError
from mtrlib.llm.client import NOT_RECORDED
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.languages import same_language, script_of
from mtrlib.llm.replies import REJECTED
from mtrlib.llm.requests import Reply, Request
from mtrlib.synthesis.agents import Agents, Scene
from mtrlib.synthesis.candidates import Candidate, Problem, seed_of
from mtrlib.synthesis.claims import read_claim, read_question
from mtrlib.synthesis.key_log import KeyLog

BRIDGE = Passage(
    "b1",
    "The bridge of Arlen was opened in 1932 by the mayor, who had paid for the northern pier "
    "out of his own pocket.",
    "Arlen Bridge",
)
MILL = Passage("m1", "The mill of Arlen ground rye until the flood of 1954.", "Arlen Mill")
FERRY = Passage("f1", "A ferry crosses at Arlen every hour.", "Arlen Ferry")
HISTORY = (Utterance("user", "Which river runs through Arlen?"), Utterance("agent", "The Orl."))


class Says:
    """An endpoint that gives the same reply to everything, and keeps what it was asked."""

    endpoint = Endpoint("lab", model="m-1", model_alias="m", temperature=0.0, max_tokens=64)

    def __init__(self, text: str = "", finish: str = "stop", failed: str = "") -> None:
        self.reply = {"text": text, "finish_reason": finish, "failed": failed}
        self.asked: list[Request] = []

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        self.asked += requests
        return [Reply(request.key, **self.reply) for request in requests]

    @property
    def prompt(self) -> str:
        return self.asked[-1].body["messages"][0]["content"]


def scene(*passages: Passage, taken: tuple[str, ...] = (), attempt: int = 1) -> Scene:
    shown = passages or (BRIDGE, MILL, FERRY)
    return Scene("synth-c", 2, 2, attempt, shown, HISTORY, taken, frozenset({"r1"}))


def question(text: str, claims: str = "model", **more) -> Candidate | Problem:
    says = Says(text, more.pop("finish", "stop"), more.pop("failed", ""))
    copies = more.pop("copies", None)
    (found,) = Agents(says, claims=claims, copies=copies).questions([scene(**more)])
    return found


def answer(text: str, asked: str = "When was the bridge of Arlen opened?", **more):
    says = Says(text, more.pop("finish", "stop"), more.pop("failed", ""))
    candidate = Candidate("synth-c", 2, asked, (more.pop("gold", BRIDGE),), HISTORY)
    (found,) = Agents(says, copies=more.pop("copies", None)).answers([candidate])
    return found


def test_the_query_agent_sees_numbered_passages_history_and_taken_questions() -> None:
    says = Says("[2] When did the mill of Arlen stop?")
    Agents(says).questions([scene(taken=("Who paid for the pier?",))])
    at = [says.prompt.index(p.text) for p in (BRIDGE, MILL, FERRY)]
    assert at == sorted(at)
    assert "Passage 2: Arlen Mill" in says.prompt
    assert "User: Which river runs through Arlen?\nAssistant: The Orl." in says.prompt
    assert "- Who paid for the pier?" in says.prompt


def test_a_passage_alone_is_shown_without_the_conversation() -> None:
    says = Says("When did the mill of Arlen stop?")
    agents = Agents(says, claims="alone")
    assert agents.at_once == 1
    (found,) = agents.questions([scene(MILL)])
    assert isinstance(found, Candidate) and found.gold == (MILL,)
    assert "Which river" not in says.prompt and MILL.text in says.prompt


@pytest.mark.parametrize("claims", ["given", "alone"])
def test_a_given_passage_needs_no_number(claims) -> None:
    found = question('Question: "When did the mill of Arlen stop?"', claims)
    assert isinstance(found, Candidate)
    assert found.question == "When did the mill of Arlen stop?"
    assert found.gold == (BRIDGE,)


@pytest.mark.parametrize(
    "text",
    [
        "[2] When did the mill of Arlen stop?",
        '{"passage": 2, "question": "When did the mill of Arlen stop?"}',
        '```json\n{"passage": "2", "question": "When did the mill of Arlen stop?"}\n```',
        "<think>[1] or {2}?</think>\n[2] When did the mill of Arlen stop?",
        "Here you are:\n[2] When did the mill of Arlen stop?",
    ],
)
def test_a_claim_is_read(text) -> None:
    found = question(text)
    assert isinstance(found, Candidate)
    assert (found.question, found.gold) == ("When did the mill of Arlen stop?", (MILL,))
    assert (found.conversation_id, found.turn_number, found.history) == ("synth-c", 2, HISTORY)
    assert found.used == {"r1"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" … ", "placeholder"),
        ("null", "placeholder"),
        ("[ERROR: generation failed]", "error_text"),
        ("[2] [ERROR: generation failed]", "error_text"),
        ('{"passage": 2, "question": "HTTP 503 Service Unavailable"}', "error_text"),
        ('{"error": {"message": "overloaded"}}', "error_text"),
        ("429 Too Many Requests", "error_text"),
        ("I'm sorry, I cannot write questions.", "refusal"),
        ("抱歉，我不能出题。", "refusal"),
        ("When did the mill of Arlen stop?", "no_claim"),
        ("2. When did the mill of Arlen stop?", "no_claim"),
        ('{"passage": true, "question": "When did the mill stop?"}', "no_claim"),
        ('{"passage": 2.5, "question": "When did the mill stop?"}', "no_claim"),
        ("[2] When did the mill stop?\n[3] How often does the ferry cross?", "ambiguous"),
        ("[0] When did the mill of Arlen stop?", "out_of_range"),
        ("[4] When did the mill of Arlen stop?", "out_of_range"),
        ('{"passage": 2, "question": null}', "no_question"),
        ("[2] The mill of Arlen ground rye.", "no_question"),
        ("<think>[2] When did the mill of Arlen stop?", "broken"),
        ('{"passage": 2, "question": "When did', "broken"),
        ("[2] WHICH RIVER runs through Arlen", "no_question"),
        ("[2] Which river runs through Arlén ?", "repeats_question"),
        ("[2] Who paid for the pier?", "repeats_question"),
        ("[2] What can be understood without the conversation?", "echo"),
        ("[2] What is your favourite colour?", "off_passage"),
        ("[2] 阿伦的磨坊什么时候停的？", "language"),
        ("[2] ¿Cuándo dejó de moler centeno el molino de la ciudad?", "language"),
    ],
)
def test_no_bad_question_gets_in(text, reason) -> None:
    taken = ("Which river runs through Arlen?", "Who paid for the pier?")
    found = question(text, taken=taken)
    assert isinstance(found, Problem), found
    assert found.reason == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The mill stopped.", "no_question"),
        ("Who paid for the bridge?\nWhen was the bridge opened?", "ambiguous"),
        ("[ERROR] Who paid for the bridge?", "error_text"),
        ("Question: Which question is this?", "off_passage"),
        ("Which of the following is a bridge?", "lacks_options"),
    ],
)
def test_no_bad_question_about_a_given_passage_gets_in(text, reason) -> None:
    found = question(text, "given")
    assert isinstance(found, Problem), found
    assert found.reason == reason


def test_only_a_known_label_is_taken_off_a_question() -> None:
    assert read_question("Arlen: who paid for it?") == (1, "Arlen: who paid for it?")
    assert read_question("The user asks: who paid for it?") == (1, "who paid for it?")
    assert read_question('A user may ask, "Who paid for it?"') == (1, "Who paid for it?")
    assert read_question("Question: Here is the question: Who paid?") == (1, "Who paid?")
    assert read_question('What is the answer to the question "Who paid?"') == (1, "Who paid?")
    assert read_question("Which question did the mayor ask?")[1].startswith("Which question")
    assert read_claim("[1] Arlen: who paid for it?", 1) == (1, "Arlen: who paid for it?")


def test_the_response_agent_sees_its_gold_the_history_and_the_question_only() -> None:
    says = Says("The mayor opened it in 1932.")
    candidate = Candidate("synth-c", 2, "When was the bridge opened?", (BRIDGE, FERRY), HISTORY)
    (found,) = Agents(says).answers([candidate])
    assert isinstance(found, Candidate) and found.answer == "The mayor opened it in 1932."
    assert found.gold == (BRIDGE, FERRY)
    assert BRIDGE.text in says.prompt and FERRY.text in says.prompt
    assert MILL.text not in says.prompt
    assert "Which river runs through Arlen?" in says.prompt
    assert "When was the bridge opened?" in says.prompt


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("N/A", "placeholder"),
        ("[ERROR: generation failed]", "error_text"),
        ("Sorry, [error] occurred", "error_text"),
        ("HTTP 502 Bad Gateway", "error_text"),
        ("Traceback (most recent call last):", "error_text"),
        ("I am unable to answer this.", "refusal"),
        ("As an AI, I have no opinion.", "refusal"),
        ("The date is not mentioned.", "no_answer"),
        ("It does not say; no further information is given.", "no_answer"),
        ("when was the bridge of Arlen opened", "repeats_question"),
        ("Which river runs through Arlen?", "repeats_question"),
        ("Answer in one or two short sentences of your own: 1932.", "echo"),
        ("In 1932.\nUser: And by whom?", "echo"),
        ("那座桥于1932年通车。", "language"),
        ("El puente fue abierto por el alcalde hace mucho tiempo.", "language"),
        ("According to the passage, in 1932.", "source_wording"),
        ("The text gives 1932.", "source_wording"),
        ("<think>1932", "broken"),
    ],
)
def test_no_bad_answer_gets_in(text, reason) -> None:
    found = answer(text)
    assert isinstance(found, Problem), found
    assert found.reason == reason


def test_a_chinese_answer_must_not_point_at_its_source() -> None:
    asked = "阿伦的桥是什么时候通车的？"
    gold = Passage("z1", "阿伦的桥于1932年由市长剪彩通车。", "阿伦桥")
    assert answer("根据文中内容，是1932年。", asked, gold=gold).reason == "source_wording"
    assert answer("没有提到通车的时间。", asked, gold=gold).reason == "no_answer"
    assert answer("那座桥于1932年通车。", asked, gold=gold).answer == "那座桥于1932年通车。"
    assert answer("1932", asked, gold=gold).answer == "1932"


@pytest.mark.parametrize("read", [question, answer])
@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"failed": "status 500: overloaded"}, Problem("failed", "status 500: overloaded")),
        ({"failed": NOT_RECORDED}, Problem("not_recorded")),
        ({"failed": REJECTED}, Problem("copies_passage")),
        ({"finish": "length"}, Problem("truncated")),
        ({"finish": "content_filter"}, Problem("refusal")),
    ],
)
def test_what_is_no_reply_is_no_text(read, fields, problem) -> None:
    assert read("[2] When did the mill of Arlen stop?", **fields) == problem


def test_copies_are_turned_away_only_where_replies_are_committed() -> None:
    copied = "The mayor, who had paid for the northern pier out of his own pocket, in 1932."
    assert isinstance(answer(copied), Candidate)
    assert answer(copied, copies=CopyCheck([BRIDGE])) == Problem("copies_passage")
    # the length of the copy decides, and it comes before anything else that is wrong
    assert isinstance(answer("The mayor had paid for it.", copies=CopyCheck([BRIDGE])), Candidate)
    assert answer(copied, copies=CopyCheck([BRIDGE]), finish="length") == Problem("copies_passage")


def test_chinese_passages_get_the_chinese_prompt() -> None:
    passage = Passage("z1", "阿伦的桥于1932年由市长剪彩通车，北侧桥墩由他自费修建。", "阿伦桥")
    says = Says('{"passage": 1, "question": "阿伦的桥是哪一年通车的？"}')
    (found,) = Agents(says).questions([scene(passage)])
    assert isinstance(found, Candidate) and found.question == "阿伦的桥是哪一年通车的？"
    assert "文段 1：" in says.prompt
    assert says.asked[0].prompt_version.startswith("synth_question.zh.txt@")


def test_requests_differ_by_try_and_are_the_same_again() -> None:
    says = Says("x")
    agents = Agents(says, seed=3)
    agents.questions([scene(attempt=1), scene(attempt=2), scene(attempt=1)])
    first, second, again = says.asked
    assert first.key == again.key != second.key
    assert (first.sample, second.sample) == (1, 2)
    body = first.body
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.8, 0.95, 64)
    assert body["seed"] == seed_of(3, "synth-c", 2, 1) < 2**31
    assert first.note == "synth-c turn 2 question"


def test_an_unknown_way_to_claim_is_refused() -> None:
    with pytest.raises(InputError, match="model, given, alone"):
        Agents(Says(), claims="guess")


def test_the_log_keeps_every_request_once() -> None:
    log = KeyLog(Says("[2] When did the mill of Arlen stop?"))
    assert log.endpoint.alias == "lab"
    for _ in range(2):
        (found,) = Agents(log).questions([scene()])
        assert isinstance(found, Candidate)
    assert [request.key for request in log.requests.values()] == list(log.requests)
    assert len(log.requests) == 1


def test_scripts_and_languages() -> None:
    assert script_of("2024 – 17") == ""
    assert script_of("東京はどこですか") == "KANA"
    assert script_of("东京在哪里") == "CJK"
    assert same_language("NASA", "Who went to the Moon in July of 1969?")
    assert not same_language("Das ist ein Haus", "这是一座房子")
