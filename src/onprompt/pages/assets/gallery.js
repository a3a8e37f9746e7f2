// Filters and orders the cards of a report, page by page, and opens a sample over the gallery.
"use strict";
(() => {
  const data = globalThis.onpromptSamples;
  const form = document.getElementById("filters");
  if (!data || !form) return;
  const results = document.getElementById("results");
  const count = document.getElementById("count");
  const pager = document.getElementById("pager");
  const viewer = document.getElementById("viewer");
  const { root, sort: first } = form.dataset;
  const names = Object.keys(data.facets);
  const ready = new Map([...results.querySelectorAll("li[data-index]")].map((card) => [Number(card.dataset.index), card]));
  const samples = data.samples.map((row) => {
    const [index, id, prompt, model, points, worst, disputed, rating, flags, review, failed, facets, address, picture, summary] = row;
    const text = `${id} ${prompt} ${model} ${summary}`.toLowerCase();
    return { index, id, prompt, model, points, worst, disputed, rating, flags, review, failed, facets, address, picture, text };
  });
  const orders = {
    worst: (a, b) => (a.worst ?? 2) - (b.worst ?? 2),
    best: (a, b) => (b.worst ?? -1) - (a.worst ?? -1),
    flagged: (a, b) => b.review - a.review || (a.worst ?? 2) - (b.worst ?? 2),
    disputed: (a, b) => (b.disputed ?? -1) - (a.disputed ?? -1),
    order: () => 0,
  };
  let chosen = samples;
  let page = 0;
  let open = -1;

  function make(tag, classes, text) {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    if (text !== undefined) element.textContent = text;
    return element;
  }
  function signed(classes, sign, text) {
    const element = make("span", classes);
    const mark = make("span", "", sign);
    mark.setAttribute("aria-hidden", "true");
    element.append(mark, ` ${text}`);
    return element;
  }
  function card(sample) {
    if (ready.has(sample.index)) return ready.get(sample.index);
    const item = make("li", "card");
    const link = make("a");
    link.href = root + sample.address;
    item.dataset.index = sample.index;
    if (sample.picture) {
      const image = make("img");
      [image.width, image.height] = [sample.picture[1], sample.picture[2]];
      [image.loading, image.decoding, image.alt] = ["lazy", "async", ""];
      image.src = root + sample.picture[0];
      link.append(image);
    } else {
      link.append(signed("no-thumb", "✗", "no picture"));
    }
    const line = make("span", "line");
    line.append(make("bdi", "who", sample.model || sample.id.slice(0, 80)));
    for (const each of sample.points) {
      line.append(make("span", each ? "points" : each === null ? "points quiet" : "points bad", each ?? "–"));
      if (each === "") line.lastChild.textContent = "no verdict";
    }
    const more = make("span", "line");
    for (const kind of sample.failed) more.append(signed("fault", "✗", kind));
    if (sample.flags) more.append(signed("flag", "⚑", sample.flags));
    if (sample.rating !== null) more.append(make("span", "quiet", `people ${sample.rating.toFixed(2)}`));
    const prompt = sample.prompt.length > 160 ? `${sample.prompt.slice(0, 160)}…` : sample.prompt;
    link.append(line, make("bdi", "asked", prompt), more);
    item.append(link);
    return item;
  }
  function show() {
    const pages = Math.max(1, Math.ceil(chosen.length / data.shown));
    page = Math.min(page, pages - 1);
    const list = make("ul", "cards");
    for (const sample of chosen.slice(page * data.shown, (page + 1) * data.shown)) list.append(card(sample));
    results.replaceChildren(list);
    const sort = form.elements.sort.selectedOptions[0].textContent;
    const number = chosen.length.toLocaleString("en");
    count.textContent = `${number} of ${samples.length.toLocaleString("en")} samples, ${sort}`;
    const steps = make("nav", "pager");
    steps.setAttribute("aria-label", "Pages of samples");
    for (const [step, text] of [[-1, "Previous"], [1, "Next"]]) {
      const button = make("button", "", text);
      button.type = "button";
      button.disabled = page + step < 0 || page + step >= pages;
      button.addEventListener("click", () => {
        page += step;
        show();
        count.scrollIntoView();
        pager.querySelectorAll("button")[step < 0 ? 0 : 1].focus();
      });
      steps.append(button);
      if (step < 0) steps.append(make("span", "", `page ${page + 1} of ${pages}`));
    }
    pager.replaceChildren(...(pages > 1 ? [steps] : []));
  }
  function apply() {
    const wanted = names.map((name) => form.elements[name]?.value ?? "");
    const places = names.map((name, at) => data.facets[name].indexOf(wanted[at]));
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    chosen = samples.filter((sample) =>
      places.every((place, at) => !wanted[at] || sample.facets[at].includes(place)) &&
      words.every((word) => sample.text.includes(word)));
    chosen.sort((a, b) => orders[form.elements.sort.value](a, b) || a.index - b.index);
    page = 0;
    show();
  }
  function remember() {
    const state = new URLSearchParams();
    for (const field of form.elements) if (field.name && field.value && field.value !== first) state.set(field.name, field.value);
    location.replace(`#${state}`);
  }
  function recall() {
    const state = new URLSearchParams(location.hash.slice(1));
    for (const field of form.elements) {
      if (!field.name) continue;
      field.value = state.get(field.name) ?? "";
      if (field.name === "sort" && field.selectedIndex < 0) field.value = first;
      else if (field.tagName === "SELECT" && field.selectedIndex < 0) field.selectedIndex = 0;
    }
    apply();
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    apply();
    remember();
  });
  form.addEventListener("reset", () => setTimeout(() => {
    apply();
    remember();
  }));
  // Only states that a gallery has: a link to a sample of the same page is not one.
  const isState = () => /^#(\w+=|$)/.test(location.hash || "#");
  addEventListener("hashchange", () => {
    const state = new URLSearchParams(location.hash.slice(1));
    const same = [...form.elements].every((field) => !field.name || (state.get(field.name) ?? (field.name === "sort" ? first : "")) === field.value);
    if (isState() && !same) recall();
  });

  // A sample over the gallery; the same keys work inside it.
  function step(by) {
    const next = open + by;
    if (next < 0 || next >= chosen.length) return;
    open = next;
    const address = root + chosen[open].address;
    viewer.querySelector("iframe").src = address;
    viewer.querySelector("a").href = address;
    viewer.querySelector(".place").textContent = `${open + 1} of ${chosen.length}`;
  }
  function key(name) {
    if (name === "ArrowRight") step(1);
    if (name === "ArrowLeft") step(-1);
    if (name === "Escape") viewer.close();
  }
  results.addEventListener("click", (event) => {
    const item = event.target.closest("li[data-index]");
    if (!viewer || !item || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const index = Number(item.dataset.index);
    open = chosen.findIndex((sample) => sample.index === index);
    step(0);
    viewer.showModal();
  });
  viewer?.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.step) step(Number(button.dataset.step));
    if (button && "close" in button.dataset) viewer.close();
  });
  viewer?.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") key(event.key);
  });
  viewer?.addEventListener("close", () => {
    const index = chosen[open]?.index;
    page = Math.max(0, Math.floor(open / data.shown));
    show();
    results.querySelector(`li[data-index="${index}"] a`)?.focus();
  });
  addEventListener("message", (event) => {
    if (viewer?.open && event.source === viewer.querySelector("iframe").contentWindow) key(event.data?.onprompt);
  });
  recall();
})();
