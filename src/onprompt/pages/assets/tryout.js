// Drop a picture, type a prompt, watch the stages, see the verdict. Nothing is sent anywhere but to this server.
"use strict";
(() => {
  const element = (id) => document.getElementById(id);
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const forms = [...document.querySelectorAll("form[data-rubric]")];
  const problem = element("problem");
  const progress = element("progress");
  const result = element("result");
  let watching = 0; // the number of the request that is shown
  let job = ""; // its id on the server, until it is done
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
    tab.addEventListener("click", () => choose(tab, false));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) choose(tabs[(place + step + tabs.length) % tabs.length], true);
    });
  });

  // ---- pictures

  function take(drop, file) {
    const input = drop.querySelector("input");
    const list = new DataTransfer();
    list.items.add(file);
    input.files = list.files;
    preview(drop);
  }
  function preview(drop) {
    const [file] = drop.querySelector("input").files;
    const image = drop.querySelector("img");
    if (image.src) URL.revokeObjectURL(image.src);
    image.hidden = !file;
    if (file) image.src = URL.createObjectURL(file);
    else image.removeAttribute("src");
    drop.querySelector(".hint").textContent = file ? file.name : "Drop a picture here, paste it, or choose a file";
  }
  for (const drop of document.querySelectorAll("[data-drop]")) {
    drop.addEventListener("dragover", (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      if (event.dataTransfer.files[0]) take(drop, event.dataTransfer.files[0]);
    });
    drop.querySelector("input").addEventListener("change", () => preview(drop));
    drop.querySelector("img").addEventListener("error", (event) => {
      if (event.target.src) event.target.hidden = true; // the server says what is wrong with it
    });
  }
  document.addEventListener("paste", (event) => {
    const [file] = event.clipboardData.files;
    const drops = [...document.querySelectorAll("form:not([hidden]) [data-drop]")];
    const empty = drops.find((drop) => !drop.querySelector("input").files.length) ?? drops[0];
    if (file && empty) take(empty, file);
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
  async function ask(address, options) {
    const answer = await fetch(address, options);
    const text = await answer.text();
    let told;
    try {
      told = JSON.parse(text);
    } catch {
      told = { message: text };
    }
    if (!answer.ok) throw new Error(told.message || `the server answered ${answer.status}`);
    return told;
  }
  const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  function drop() {
    if (job) fetch(`/jobs/${job}`, { method: "DELETE", keepalive: true });
    job = "";
  }
  async function judge(form) {
    drop();
    const mine = ++watching;
    const start = Date.now();
    problem.hidden = true;
    result.replaceChildren();
    progress.hidden = false;
    progress.querySelector(".stages").replaceChildren();
    progress.scrollIntoView({ block: "nearest" });
    try {
      const headers = { "Content-Type": "application/json" };
      const sent = JSON.stringify(await body(form));
      const { id } = await ask(`/jobs/${form.dataset.rubric}`, { method: "POST", headers, body: sent });
      job = id;
      for (;;) {
        const told = await ask(`/jobs/${id}`);
        if (mine !== watching) return;
        show(told, start);
        if (told.done) return finish(told);
        await wait(150);
      }
    } catch (error) {
      if (mine !== watching) return;
      progress.hidden = true;
      problem.textContent = error.message;
      problem.hidden = false;
    }
  }
  function show(told, start) {
    const list = progress.querySelector(".stages");
    for (const words of told.stages.slice(list.children.length)) {
      const item = document.createElement("li");
      item.textContent = words;
      list.append(item);
    }
    [...list.children].forEach((item, place) => {
      const last = place === list.children.length - 1 && !told.done;
      item.className = last ? "now" : "over";
    });
    element("seconds").textContent = ((Date.now() - start) / 1000).toFixed(1);
  }
  function finish(told) {
    job = "";
    verdict = told.document;
    progress.hidden = true;
    result.innerHTML = told.html; // made by our own templates, which escape every text
    element("result-title").focus();
  }

  // ---- events

  for (const form of forms) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      judge(form);
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
  }
  element("forget").addEventListener("click", () => {
    drop();
    watching += 1;
    progress.hidden = true;
  });
  addEventListener("pagehide", drop);
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
