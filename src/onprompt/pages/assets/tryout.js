// Drop a picture, type a prompt, watch the stages, see the verdict. Nothing is sent anywhere but to this server.
"use strict";
(() => {
  const element = (id) => document.getElementById(id);
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const forms = [...document.querySelectorAll("form[data-rubric]")];
  const [problem, progress, result, empty] = ["problem", "progress", "result", "empty"].map(element);
  const past = []; // the verdicts of this session, the last one first
  let running = null; // what ends the request in progress
  let verdict = null;

  // ---- rubrics

  function choose(tab, focus) {
    for (const each of tabs) {
      const chosen = each === tab;
      each.setAttribute("aria-selected", String(chosen));
      each.tabIndex = chosen ? 0 : -1;
      element(each.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (focus) tab.focus();
  }
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => {
      choose(tab, false);
      clear();
    });
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) choose(tabs[(place + step + tabs.length) % tabs.length], true);
    });
  });

  // ---- pictures: dropped anywhere, pasted, chosen, or an example

  function take(drop, file) {
    const list = new DataTransfer();
    list.items.add(file);
    drop.querySelector("input").files = list.files;
    preview(drop);
    clear();
  }
  function preview(drop) {
    const [file] = drop.querySelector("input").files;
    const image = drop.querySelector("img");
    if (image.src) URL.revokeObjectURL(image.src);
    image.hidden = !file;
    if (file) image.src = URL.createObjectURL(file);
    else image.removeAttribute("src");
    drop.querySelector(".hint").textContent = file ? file.name : "Drop a picture anywhere, paste it, or choose a file";
  }
  function place(files, target) {
    const drops = [...document.querySelectorAll("form:not([hidden]) [data-drop]")];
    for (const file of files) {
      const free = target ?? drops.find((drop) => !drop.querySelector("input").files.length) ?? drops.at(-1);
      if (free) take(free, file);
      target = null;
    }
  }
  for (const name of ["dragover", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      document.body.classList.toggle("over", name === "dragover");
      if (name === "drop") place(event.dataTransfer.files, event.target.closest?.("[data-drop]"));
    });
  }
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("over");
  });
  document.addEventListener("paste", (event) => place(event.clipboardData.files));
  for (const drop of document.querySelectorAll("[data-drop]")) {
    drop.querySelector("input").addEventListener("change", () => preview(drop));
    drop.querySelector("img").addEventListener("error", (event) => {
      if (event.target.src) event.target.hidden = true; // the server says what is wrong with it
    });
  }
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-example]");
    if (!button) return;
    const form = button.closest("form");
    const name = button.dataset.example;
    const answer = await fetch(`/example/${name}`);
    take(form.querySelector("[data-drop]"), new File([await answer.blob()], name));
    form.querySelector("textarea").value = button.dataset.prompt;
    judge(form);
  });

  // ---- asking

  const base64 = (file) => new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(new Error(`${file.name} can't be read`));
    reader.readAsDataURL(file);
  });
  async function body(form) {
    const request = JSON.parse(form.elements.judge.value);
    const names = {};
    for (const field of form.elements) {
      if (!field.name || field.name === "judge") continue;
      if (field.type === "file") {
        if (!field.files.length) continue;
        names[field.name] = field.files[0].name;
        request[field.name] = await base64(field.files[0]);
      } else if (field.value.trim()) {
        const list = field.value.split(",").map((each) => each.trim()).filter(Boolean);
        request[field.name] = field.type === "number" ? Number(field.value) : "names" in field.dataset ? list : field.value;
      }
    }
    return { request, names };
  }
  // The lines that the server sends as the work goes on.
  async function* lines(answer) {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n");
      rest = parts.pop();
      yield* parts.map((line) => JSON.parse(line));
    }
  }
  function clear() {
    running?.abort();
    running = verdict = null;
    result.replaceChildren();
    [progress.hidden, problem.hidden, empty.hidden] = [true, true, false];
  }
  async function judge(form) {
    clear();
    const mine = (running = new AbortController());
    const start = Date.now();
    const list = progress.querySelector(".stages");
    list.replaceChildren();
    [progress.hidden, empty.hidden] = [false, true];
    const clock = setInterval(() => (element("seconds").textContent = ((Date.now() - start) / 1000).toFixed(1)), 100);
    try {
      const headers = { "Content-Type": "application/json" };
      const sent = JSON.stringify(await body(form));
      const answer = await fetch(`/watch/${form.dataset.rubric}`, { method: "POST", headers, body: sent, signal: mine.signal });
      if (!answer.ok) {
        const text = await answer.text();
        throw new Error(text.startsWith("{") ? JSON.parse(text).message : text || `the server answered ${answer.status}`);
      }
      for await (const told of lines(answer)) {
        if (told.message) throw new Error(told.message);
        if (told.html) show(told, form);
        else {
          list.lastChild?.classList.replace("now", "over");
          const item = document.createElement("li");
          [item.textContent, item.className] = [told.stage, "now"];
          list.append(item);
        }
      }
    } catch (error) {
      if (mine !== running) return;
      [problem.textContent, problem.hidden] = [error.message, false];
    } finally {
      clearInterval(clock);
      if (mine === running) progress.hidden = true;
    }
  }
  function show(told, form) {
    ({ document: verdict } = told);
    result.innerHTML = told.html; // made by our own templates, which escape every text
    [problem.hidden, progress.hidden, empty.hidden] = [true, true, true];
    element("result-title").focus({ preventScroll: true });
    if (innerWidth < 960) result.scrollIntoView();
    if (form) remember(told, form);
  }
  function remember(told, form) {
    past.unshift(told);
    const button = document.createElement("button");
    const image = document.createElement("img");
    const score = told.document.score ?? told.document.value.toFixed(2);
    [image.src, image.alt, image.width, image.height] = [result.querySelector(".picture:not(.before) img").src, "", 48, 48];
    button.type = "button";
    button.append(image, ` ${form.dataset.rubric} (${score}) ${result.querySelector("h2").textContent.slice(0, 80)}`);
    button.addEventListener("click", () => {
      clear();
      show(told);
    });
    const item = document.createElement("li");
    item.append(button);
    const history = element("history");
    history.hidden = false;
    history.querySelector("ol").prepend(item);
    for (const old of past.splice(20)) if (old) history.querySelector("li:last-child").remove();
  }

  // ---- events

  for (const form of forms) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      judge(form);
    });
    form.addEventListener("input", () => verdict && clear()); // it was the answer to another question
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
  }
  element("forget").addEventListener("click", clear);
  result.addEventListener("click", async (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.copy) {
      await navigator.clipboard.writeText(element(button.dataset.copy).textContent);
      button.textContent = "copied";
      setTimeout(() => (button.textContent = "copy"), 1500);
    }
    if (button && "save" in button.dataset) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([JSON.stringify(verdict, null, 2)], { type: "application/json" }));
      link.download = "verdict.json";
      link.click();
    }
  });
  choose(tabs[0], false);
})();
