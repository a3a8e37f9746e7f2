"""The review's server, over real HTTP: what is saved, shown and refused."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from html import unescape
from pathlib import Path

import httpx2
import pytest
from PIL import Image

from onprompt.errors import UserError
from onprompt.pages.review import Filters, ReviewDesk, create_app, position
from onprompt.rubrics.verify import RUBRIC
from onprompt.runs import reviews
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Run
from onprompt.runs.reviews import in_random_order
from tests.pages.conftest import Serve
from tests.pages.stored import four_models, stored_run
from tests.runs.test_run import judged

HOSTILE = "<script>alert(1)</script>\"'>{{ 7 * 7 }}${7*7}"


@pytest.fixture
def client(serve: Serve, run_file: Path) -> httpx2.Client:
    return serve(create_app(ReviewDesk(run_file)))


def scored(client: httpx2.Client, number: int, score: int, rater: str = "Ada") -> httpx2.Response:
    return client.post(f"/review/{number}", json={"rater": rater, "scores": {"score": score}})


def test_a_review_is_saved_at_once_and_shown_again(client: httpx2.Client, run_file: Path) -> None:
    first = client.get("/review", params={"rater": " Ada ", "queue": "all", "unreviewed": "1"})
    assert (first.status_code, first.headers["location"]) == (303, "/review/1?queue=all&unreviewed=1&rater=Ada&blind=0")
    said = {"rater": "Ada", "scores": {"score": 3}, "comment": HOSTILE}
    assert client.post("/review/1", json=said).json() == {"complete": True}
    with RunFile(run_file) as file:
        assert reviews.ratings(file, RUBRIC) == {"0": {"Ada": 3.0}}
    page = client.get("/review/1?rater=Ada&queue=all").text
    state = json.loads(unescape(page.split("data-state='")[1].split("'")[0]))
    assert (state["scores"], state["comment"]) == ({"score": 3}, HOSTILE)
    assert "<script>alert" not in page
    assert "The image barely relates to the prompt." in page, "the rubric stands beside the scores"
    assert client.get("/review?rater=Ada&queue=all&unreviewed=1").headers["location"].startswith("/review/2?")
    assert client.post("/undo", json={"rater": "Ada"}).json() == {"number": 1}
    assert client.post("/undo", json={"rater": "Ada"}).json() == {"number": None}


def test_what_is_not_a_review_is_refused(client: httpx2.Client, run_file: Path) -> None:
    refused: list[tuple[str, object, int]] = [
        ("/review/1", {"rater": "Ada", "scores": {"score": 9}}, 422),
        ("/review/1", {"rater": "Ada", "scores": {"score": "many"}}, 422),
        ("/review/1", {"rater": "", "scores": {"score": 1}}, 422),
        ("/review/1", {"rater": "a\u202eb", "scores": {"score": 1}}, 422),
        ("/review/1", {"rater": "Ada", "checks": {"99": "matched"}}, 422),
        ("/review/1", {"rater": "Ada", "comment": "x" * 10_001}, 422),
        ("/review/1", {"rater": "Ada", "more": 1}, 422),
        ("/review/1", ["Ada"], 422),
        ("/review/9999", {"rater": "Ada", "scores": {"score": 1}}, 404),
    ]
    assert [client.post(path, json=body).status_code for path, body, _ in refused] == [status for *_, status in refused]
    for number in (2**63, -(2**63) - 1, 10**30, "x", "²", "१", "1" * 5000, "1e3"):
        for path in (f"/review/{number}?rater=Ada", f"/image/{number}/image"):
            assert client.get(path).status_code == 422
        assert client.post(f"/review/{number}", json={"rater": "Ada", "scores": {"score": 1}}).status_code == 422
        body = f'{{"rater": "Ada", "scores": {{"score": {json.dumps(number)}}}}}'
        saved = client.post("/review/1", content=body, headers={"Content-Type": "application/json"})
        assert saved.status_code == 422
    large = client.post("/review/1", json={"rater": "Ada", "comment": "x" * 2_000_000})
    assert large.status_code == 413
    with RunFile(run_file) as file:
        assert file.first("SELECT count(*) FROM reviews") == (0,)


def test_invented_addresses_are_refused_or_forgotten(serve: Serve, run_file: Path) -> None:
    desk = ReviewDesk(run_file)
    client = serve(create_app(desk))
    assert client.get("/review/1?rater=Ada&queue=invented").status_code == 422
    for number in range(300):
        client.get(f"/review?rater=r{number}&part={number}&parts=999")
    assert len(desk.known) <= 256


@pytest.mark.parametrize("how", ["replaced", "deleted"])
def test_nothing_is_saved_to_a_file_that_is_no_longer_there(client: httpx2.Client, run_file: Path, how: str) -> None:
    copy = run_file.with_name("copy.sqlite")
    with closing(sqlite3.connect(run_file)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    assert scored(client, 1, 3).status_code == 200
    copy.replace(run_file) if how == "replaced" else run_file.unlink()
    saved, undone = scored(client, 2, 3), client.post("/undo", json={"rater": "Ada"})
    assert (saved.status_code, undone.status_code) == (409, 409)
    assert saved.text == (
        "run.sqlite was replaced or deleted while this review was open; start `onprompt review` again"
    )


def test_only_pictures_of_the_run_are_served_and_only_as_they_were_judged(
    client: httpx2.Client, run_file: Path
) -> None:
    picture = client.get("/image/1/image")
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/jpeg")
    names = ["/image/1/before", "/image/999/image", "/image/1/..%2f..%2fdata.csv", "/image/1/%2fetc%2fpasswd"]
    names += ("/assets/..%2freview.py", "/assets/%2e%2e/guard.py", "/assets/page.html", "/run.sqlite", "/openapi.json")
    assert [client.get(name).status_code for name in names] == [404] * len(names)
    Image.new("RGB", (9, 9)).save(run_file.with_name("cat.png"))
    assert "changed since it was judged" in client.get("/review/2?rater=Ada").text
    assert client.get("/image/2/image").status_code == 404
    run_file.with_name("cat.png").unlink()
    assert "no longer there" in client.get("/review/2?rater=Ada").text
    assert scored(client, 2, 1).status_code == 200


def blind_flags(path: Path) -> list[int]:
    with RunFile(path) as file:
        return [blind for (blind,) in file.query("SELECT blind FROM reviews ORDER BY id")]


def test_who_is_blind_sees_nothing_of_the_judge(serve: Serve, client: httpx2.Client, run_file: Path) -> None:
    shown, hidden = (client.get(f"/review/4?rater=Ada&{more}").text for more in ("", "blind=1"))
    for words in ("judge: 3", "So many", 'data-do="accept"'):
        assert words in shown
        assert words not in hidden
    forced = serve(create_app(ReviewDesk(run_file, blind=True)))
    assert "judge: " not in forced.get("/review/4?rater=Ada").text
    assert 'value="flagged"' not in forced.get("/").text
    scored(forced, 4, 1)
    assert blind_flags(run_file) == [1]


def test_blind_pages_name_neither_model_nor_id_nor_score_until_they_are_scored(serve: Serve, tmp_path: Path) -> None:
    run = stored_run(tmp_path / "run.sqlite", four_models(3))
    client = serve(create_app(ReviewDesk(run)))
    place = client.get("/review?rater=Ada&queue=random&unreviewed=1").headers["location"]  # blind unless it is chosen
    page = client.get(place).text
    assert not re.search('north|east|south|west|judge: |probability|class="box', page)
    assert "Sample " in page
    assert "judge: " in client.get(place.replace("blind=1", "blind=0").replace("rater=Ada", "rater=Bo")).text
    (tmp_path / "pictures" / "0.png").unlink()
    assert not re.search("north|0.png", client.get("/review/1?rater=Ada&blind=1").text)


def test_a_score_is_blind_while_it_is_what_was_said_before_the_verdict_was_shown(serve: Serve, tmp_path: Path) -> None:
    run = stored_run(tmp_path / "run.sqlite", four_models(1))
    client = serve(create_app(ReviewDesk(run)))

    def save(score: int, **more: object) -> None:
        body = {"rater": "Ada", "scores": {"score": score}, "blind": True} | more
        assert client.post("/review/1", json=body).status_code == 200

    assert "judge: " not in client.get("/review/1?rater=Ada&blind=1").text
    save(2)
    save(3)  # another thought, still before
    shown = client.get("/review/1?rater=Ada&blind=1").text
    assert "judge: 4" in shown
    assert "north/0" in shown
    assert "disabled" in shown.split("<fieldset")[1].split(">")[0]
    save(3, checks={"0": "matched"})
    save(4)
    assert blind_flags(run) == [1, 1, 1, 0]


def test_the_end_is_a_page_without_a_field_to_type_into(client: httpx2.Client) -> None:
    for number in range(1, 31):
        scored(client, number, number % 3)
        scored(client, number, number % 3, "Bo")
    page = client.get(client.get("/review?rater=Ada&queue=all&unreviewed=1").headers["location"]).text
    assert "Done, <bdi>Ada</bdi>" in page
    assert "You have scored 30 of 30" in page
    assert "<input" not in page
    cells = ('<th scope="row"><bdi>Bo</bdi></th>', *(f'<td class="number">{each}</td>' for each in (30, "1.00", 30)))
    assert "".join(cells) in page
    flagged = client.get("/review?rater=Ada&queue=flagged&unreviewed=1").headers["location"]
    assert flagged.startswith("/done?"), "nothing is flagged"


def test_the_work_is_split_into_shares_that_do_not_overlap(serve: Serve, run_file: Path) -> None:
    desk = ReviewDesk(run_file)
    shares = [set(desk.numbers(Filters("all", part=part, parts=3))) for part in (1, 2, 3)]
    assert set().union(*shares) == set(range(1, 31))
    assert [len(share) for share in shares] == [10, 10, 10]
    page = serve(create_app(desk)).get("/review/2?rater=Ada&queue=all&part=2&parts=3").text
    assert "<strong>1</strong> of 10 " in page


def test_the_random_order_is_reviewed_and_agreement_is_shown(client: httpx2.Client, run_file: Path) -> None:
    for number in in_random_order(Run(run_file).rows())[:10]:
        place = client.get("/review?rater=Ada&queue=random&unreviewed=1").headers["location"]
        assert place.startswith(f"/review/{number}?")
        scored(client, number, (number - 1) % 10 % 5)
    assert "Spearman's ρ with the judge is 1.00 on 10 verdicts" in unescape(client.get("/").text)


def test_a_run_that_grows_is_noticed(client: httpx2.Client, tmp_path: Path) -> None:
    assert "of 30" in client.get("/review/1?rater=Ada&queue=all").text
    lines = [f"more{index},cat.png,{index} cats of more" for index in range(3)]
    (tmp_path / "more.csv").write_text("\n".join(["id,image,prompt", *lines]) + "\n")
    judged(tmp_path, tmp_path / "more.csv")
    deadline = time.monotonic() + 5
    while "of 33" not in client.get("/review/1?rater=Ada&queue=all").text:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_damaged_verdict_is_said_to_be(client: httpx2.Client, run_file: Path) -> None:
    with closing(sqlite3.connect(run_file)) as database:
        database.execute("UPDATE verdicts SET value = value + 0.01 WHERE sample = 2")
        database.commit()
    page = client.get("/review/2?rater=Ada")
    assert (page.status_code, "onprompt check" in page.text) == (200, True)


def test_back_goes_to_any_and_on_to_those_that_are_open() -> None:
    where = position([4, 9, 2, 7], 9, {4, 2}, unreviewed=True)
    assert (where.place, where.total, where.done, where.following, where.previous) == (2, 4, 2, 7, 4)
    assert position([4, 9, 2], 2, {9}, unreviewed=True).following == 4, "once around"
    assert position([4, 9, 2], 2, set(), unreviewed=False).following is None
    assert position([4, 9], 5, set(), unreviewed=True).place == 0


def test_what_can_not_be_reviewed_is_said_before_it_starts(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such run file"):
        ReviewDesk(tmp_path / "none.sqlite")
    with RunFile(tmp_path / "other.sqlite", writing=True) as file:
        configuration, _ = file.add_configuration({"rubric": "illusion", "judge": "vlm"})
        file.begin(configuration, "data", {})
    with pytest.raises(UserError, match="a run of illusion, which has no scale"):
        ReviewDesk(tmp_path / "other.sqlite")


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_the_command_keeps_what_it_answered_however_it_ends(run_file: Path, how: str) -> None:
    command = [sys.executable, "-m", "onprompt", "review", str(run_file), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout
    with httpx2.Client(base_url=process.stdout.readline().strip()) as client:
        assert client.get("/").status_code == 200
        for number in range(1, 21):
            scored(client, number, 3)
    process.kill() if how == "killed" else process.terminate()
    _, errors = process.communicate(timeout=20)
    assert how == "killed" or (process.returncode, "Traceback" in errors) == (0, False), errors
    with RunFile(run_file) as file:
        assert len(reviews.ratings(file, RUBRIC)) == 20
        assert not file.damage()
