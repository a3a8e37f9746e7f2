// Reviewing by keyboard. Every change is sent at once, one after the other; a page is left only when all is saved.
// What is not yet known to be saved is kept in this tab, and sent again until the server answers.
"use strict";
(() => {
  const root = document.getElementById("review");
  const state = JSON.parse(root.dataset.state);
  const all = (selector) => [...root.querySelectorAll(selector)];
  const saving = document.getElementById("saving");
  const comment = document.getElementById("comment");
  const help = document.getElementById("help");
  const scales = all("[data-factor]");
  const checks = all("[data-check]");
  const draft = `review ${state.number} ${state.draft} ${state.rater}`; // the file may be another by then
  const auto = document.getElementById("auto");
  let marked = 0;
  let sending = Promise.resolve(true);
  let timer = 0;
  let again = 0;

  // ---- what is shown

  function complete() {
    return scales.every((scale) => state.scores[scale.dataset.factor] !== undefined);
  }
  function show() {
    for (const scale of scales) {
      for (const input of scale.querySelectorAll("input")) {
        input.checked = state.scores[scale.dataset.factor] === Number(input.value);
      }
    }
    checks.forEach((check) => {
      if (!state.checks[check.dataset.check]) check.querySelectorAll("input").forEach((input) => (input.value = ""));
      for (const button of check.querySelectorAll("[data-answer]")) {
        button.setAttribute("aria-pressed", String(state.checks[check.dataset.check] === button.dataset.answer));
      }
    });
    scales.forEach((scale, place) => scale.classList.toggle("marked", scales.length > 1 && place === marked));
  }
  function say(text, failed = false) {
    saving.textContent = text;
    saving.classList.toggle("failed", failed);
  }

  // ---- what is sent

  function send(keepalive = false) {
    clearTimeout(timer);
    clearTimeout(again);
    timer = 0;
    const { rater, scores, blind, checks: said } = state;
    const body = JSON.stringify({ rater, scores, blind, checks: said, comment: state.comment });
    sessionStorage.setItem(draft, body);
    const post = async () => {
      try {
        const answer = await fetch(`/review/${state.number}`, {
          method: "POST", headers: { "Content-Type": "application/json" }, body, keepalive,
        });
        if (!answer.ok) throw new Error(await answer.text());
        if (sessionStorage.getItem(draft) !== body) return true; // there is more on its way
        sessionStorage.removeItem(draft);
        say(complete() ? "saved, scored; z undoes" : "saved");
        return true;
      } catch (error) {
        const offline = error instanceof TypeError; // no answer at all, unlike one that refuses
        say(offline ? "no connection: kept here, sent again until it is saved" : `not saved: ${error.message}`, true);
        if (offline) again = setTimeout(send, 2000);
        return false;
      }
    };
    sending = keepalive ? post() : sending.then(post);
    return sending;
  }
  function write() {
    if (comment.value === state.comment) return;
    state.comment = comment.value;
    send();
  }

  // ---- what a rater does

  async function go(number) {
    write();
    if (!(await sending)) return;
    location.assign(number ? `/review/${number}?${state.query}` : `/done?${state.query}`);
  }
  function score(value) {
    const scale = scales[marked];
    if (state.locked) return say("scored before the verdict was shown; z takes it back");
    const input = [...scale.querySelectorAll("input")].find((each) => Number(each.value) === value);
    if (!input) return;
    state.scores[scale.dataset.factor] = value;
    if (marked < scales.length - 1) marked += 1;
    show();
    send();
    if (auto.checked && complete()) go(root.dataset.next);
  }
  function answer(check, value, kept = false) {
    if (!check) return;
    if (state.checks[check.dataset.check] === value && !kept) delete state.checks[check.dataset.check];
    else state.checks[check.dataset.check] = value;
    show();
    send();
  }
  async function undo() {
    write();
    await sending;
    try {
      const response = await fetch("/undo", {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ rater: state.rater }),
      });
      if (!response.ok) throw new Error(await response.text());
      const { number } = await response.json();
      if (number === null) say("nothing to undo");
      else location.assign(`/review/${number}?${state.query}`);
    } catch (error) {
      say(`not undone: ${error.message}`, true);
    }
  }
  function toCheck() {
    const place = checks.indexOf(document.activeElement?.closest?.("[data-check]"));
    checks[(place + 1) % checks.length]?.focus();
  }
  function slide(step) {
    const split = root.querySelector("[data-split]");
    if (!split) return;
    const overlay = root.querySelector("[data-overlay]");
    if (!overlay.checked) overlay.click();
    split.value = Number(split.value) + step;
    split.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const actions = {
    next: () => (complete() ? go(root.dataset.next) : say("not scored yet: → or s skips it", true)),
    skip: () => go(root.dataset.next),
    reveal: async () => {
      if (!state.blind) return;
      if (!complete()) say("score it first", true);
      else if (await sending) location.reload();
    },
    previous: () => root.dataset.previous && go(root.dataset.previous),
    undo,
    help: () => (help.open ? help.close() : help.showModal()),
    accept: () => {
      if (!Object.keys(state.judged).length) return;
      state.scores = { ...state.judged };
      show();
      send();
      go(root.dataset.next);
    },
    mark: () => {
      marked = (marked + 1) % scales.length;
      show();
    },
    boxes: () => root.classList.toggle("no-boxes"),
    overlay: () => root.querySelector("[data-overlay]")?.click(),
    comment: () => comment.focus(),
    checks: toCheck,
  };
  const keys = {
    ArrowRight: "skip", s: "skip", Enter: "next", ArrowLeft: "previous", z: "undo", "?": "help", a: "accept", f: "mark",
    b: "boxes", o: "overlay", m: "comment", c: "checks", v: "reveal",
  };
  const answers = Object.fromEntries(
    all("[data-answer]").map((button) => [button.dataset.key, button.dataset.answer]),
  );

  // ---- events

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { target, key } = event;
    if (key === "Escape" && !help.open) target.blur?.();
    if (help.open && key !== "?") return;
    if (target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])")) return;
    if (target.closest(".zoomed .canvas") && key.startsWith("Arrow")) return;
    if (target.matches("input, button, summary, a") && ["Enter", " ", "ArrowLeft", "ArrowRight"].includes(key)) return;
    const check = target.closest("[data-check]");
    if (/^\d$/.test(key)) score(key === "0" && !root.querySelector("[data-factor] input[value='0']") ? 10 : Number(key));
    else if (check && answers[key]) answer(check, answers[key]);
    else if (key === "[" || key === "]") slide(key === "[" ? -5 : 5);
    else if (keys[key]) actions[keys[key]]();
    else return;
    event.preventDefault();
  });
  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.do) actions[button.dataset.do]();
    if (button?.dataset.answer) answer(button.closest("[data-check]"), button.dataset.answer);
  });
  root.addEventListener("change", (event) => {
    const { low, high } = event.target.dataset;
    if (low !== undefined) {
      const number = event.target.valueAsNumber;
      const right = number >= Number(low) && (high === "" || number <= Number(high));
      if (Number.isFinite(number)) answer(event.target.closest("[data-check]"), right ? "matched" : "mismatch", true);
      return;
    }
    const scale = event.target.closest("[data-factor]");
    if (!scale) return;
    marked = scales.indexOf(scale);
    score(Number(event.target.value));
  });
  root.addEventListener("pointerup", (event) => {
    // The arrows move on again: only who came to the scale by keyboard uses them there.
    if (event.target.closest(".mark")) setTimeout(() => document.activeElement?.blur(), 0);
  });
  comment.addEventListener("input", () => {
    clearTimeout(timer);
    say("…");
    timer = setTimeout(write, 400);
  });
  comment.addEventListener("blur", write);
  addEventListener("pagehide", () => {
    if (comment.value === state.comment) return;
    state.comment = comment.value;
    send(true);
  });
  for (const image of all("img")) {
    image.addEventListener("error", () => {
      const note = document.createElement("p");
      note.className = "no-picture";
      note.textContent = "The picture can't be shown: its file is gone, damaged, or has changed since it was judged.";
      image.closest(".canvas").replaceWith(note);
    });
  }

  auto.checked = localStorage.getItem("onprompt next") === "yes";
  auto.addEventListener("change", () => localStorage.setItem("onprompt next", auto.checked ? "yes" : "no"));
  addEventListener("online", () => sessionStorage.getItem(draft) && send());
  const unsaved = JSON.parse(sessionStorage.getItem(draft));
  if (unsaved) Object.assign(state, { scores: unsaved.scores, checks: unsaved.checks, comment: unsaved.comment });
  comment.value = state.comment;
  marked = Math.max(0, scales.findIndex((scale) => state.scores[scale.dataset.factor] === undefined));
  show();
  say(complete() ? "scored" : "not scored yet");
  if (unsaved) send();
  if (root.dataset.next) {
    const name = root.querySelector(".versions") ? ["before", "image"] : ["image"];
    name.forEach((each) => (new Image().src = `/image/${root.dataset.next}/${each}`)); // the next one is there at once
  }
})();
