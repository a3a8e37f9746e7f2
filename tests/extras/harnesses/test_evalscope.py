"""The metric in EvalScope itself, on recorded images: its own runner, its own report."""

import json
import shutil
from pathlib import Path

from tests.conftest import photo_path
from tests.extras.harnesses import THEIRS

pytestmark = THEIRS


def test_a_task(tmp_path: Path) -> None:
    from evalscope import TaskConfig, run_task

    import onprompt.adapters.evalscope  # noqa: F401 registers the metric

    shutil.copy(photo_path("coffee.png"), tmp_path / "cup.png")
    (tmp_path / "none.png").write_bytes(b"no image")
    cases = [("A cup on a table.", "cup.png"), ("A laptop.", "cup.png"), ("A cup.", "none.png")]
    lines = [json.dumps({"id": n, "prompt": p, "image_path": str(tmp_path / i)}) for n, (p, i) in enumerate(cases)]
    (tmp_path / "prompts.jsonl").write_text("\n".join(lines) + "\n")
    data = {"general_t2i": {"dataset_id": str(tmp_path / "prompts.jsonl"), "metric_list": ["onprompt"]}}
    config = TaskConfig(
        model="mine",
        eval_type="mock_llm",
        datasets=["general_t2i"],
        dataset_args=data,
        work_dir=str(tmp_path / "out"),
        eval_batch_size=1,
    )
    run_task(config)
    (report,) = (tmp_path / "out").rglob("reports/**/*.json")
    metrics = json.loads(report.read_text())["metrics"]
    (overall,) = (each for each in metrics if each["identity"]["dimensions"].get("scope") == "overall")
    assert overall["identity"]["name"] == "onprompt"
    assert overall["num"] == 2, "the one that is no image is in no mean"
    assert 0.3 < overall["score"] < 0.7, "of a good and a bad one"
