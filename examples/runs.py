"""The Python of docs/runs.md: a run as a table, and the best of several images."""

import onprompt

run = onprompt.load_run("run.sqlite")
frame = run.to_pandas()  # a row per sample; without a verdict, score and value are missing, and error says why
claims = run.to_pandas(claims=True)  # a row per claim
frame.groupby("category")["value"].mean()
run.verdict("cup.png")  # one verdict, as it was

images = ["a.png", "b.png"]
ranked = onprompt.best(images, "Two red cups on a table.")  # paths or Pillow images; the best first
ranked[0].image, ranked[0].value, ranked[0].reason
onprompt.best_edit("before.png", ["a.png", "b.png"], "remove the cup")  # the same for edits of one image
print(frame, ranked)
