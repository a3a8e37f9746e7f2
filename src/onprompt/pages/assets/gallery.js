// Filters and orders the samples of a report, and shows them as cards, or as a matrix of prompts and models.
"use strict";
(() => {
  const data = globalThis.onpromptSamples;
  const form = document.getElementById("filters");
  if (!data || !form) return;
  const [results, count, pager] = ["results", "count", "pager"].map((id) => document.getElementById(id));
  const { root, sort: first } = form.dataset;
  const names = Object.keys(data.facets);
  const [CARDS, ROWS] = [60, 25]; // on a page
  const fields = ["index", "id", "prompt", "points", "worst", "disputed", "rating", "look", "facets", "address", "picture", "summary"];
  const samples = data.samples.map((row) => {
    const sample = Object.fromEntries(fields.map((name, at) => [name, row[at]]));
    const named = (facet) => sample.facets[names.indexOf(facet)].map((place) => data.facets[facet][place]);
    [sample.model, sample.failed] = [named("model")[0] ?? "", named("failure")];
    sample.text = `${sample.id} ${sample.prompt} ${sample.model} ${sample.summary}`.toLowerCase();
    return sample;
  });
  const embedded = new Map([...document.querySelectorAll(".views > .sample")].map((view) => [`#${view.id}`, view.querySelector("img")]));
  const orders = {
    worst: (a, b) => (a.worst ?? 2) - (b.worst ?? 2),
    best: (a, b) => (b.worst ?? -1) - (a.worst ?? -1),
    flagged: (a, b) => b.look - a.look || (a.worst ?? 2) - (b.worst ?? 2),
    disputed: (a, b) => (b.disputed ?? -1) - (a.disputed ?? -1),
    order: () => 0,
  };
  let chosen = samples;
  let page = 0;
  let column = ""; // the model by which the matrix is ordered

  function make(tag, classes, ...content) {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    element.append(...content.map((each) => each ?? ""));
    return element;
  }
  function signed(classes, sign, text) {
    const mark = make("span", "", sign);
    mark.setAttribute("aria-hidden", "true");
    return make("span", classes, mark, ` ${text}`);
  }
  function picture(sample, alt) {
    const own = embedded.get(sample.address);
    if (!sample.picture && !own) return signed("no-thumb", "✗", "no picture");
    const image = make("img");
    [image.width, image.height] = sample.picture ? sample.picture.slice(1) : [own.width, own.height];
    [image.loading, image.decoding, image.alt] = ["lazy", "async", alt];
    image.src = sample.picture ? root + sample.picture[0] : own.src;
    return image;
  }
  const pointed = (sample) => sample.points.map((each) =>
    make("span", each ? "points" : each === null ? "points quiet" : "points bad", each === "" ? "no verdict" : each ?? "–"));
  function linked(sample, ...content) {
    const link = make("a", "", ...content);
    link.href = root + sample.address;
    return link;
  }
  function card(sample) {
    const line = make("span", "line", make("bdi", "who", sample.model || sample.id.slice(0, 80)), ...pointed(sample));
    const more = make("span", "line", ...sample.failed.slice(0, 3).map((kind) => signed("fault", "✗", kind)));
    if (sample.look) more.append(signed("flag", "⚑", ""));
    if (sample.rating !== null) more.append(make("span", "quiet", `people ${sample.rating.toFixed(2)}`));
    const prompt = sample.prompt.length > 160 ? `${sample.prompt.slice(0, 160)}…` : sample.prompt;
    const item = make("li", "card", linked(sample, picture(sample, ""), line, make("bdi", "asked", prompt), more));
    item.dataset.index = sample.index;
    return item;
  }

  // ---- prompt × model

  function rows() {
    const found = new Map();
    for (const sample of chosen) {
      const key = sample.prompt || sample.id;
      if (!found.has(key)) found.set(key, new Map());
      const own = found.get(key);
      own.set(sample.model, [...(own.get(sample.model) ?? []), sample]);
    }
    const all = [...found].map(([prompt, cells]) => ({ prompt, cells }));
    const worst = (row) => Math.min(...(row.cells.get(column) ?? []).map((sample) => sample.worst ?? 2), 3);
    return column ? all.sort((a, b) => worst(a) - worst(b)) : all;
  }
  function matrix(shown) {
    const models = data.facets.model.length ? data.facets.model : [""];
    const head = make("tr", "", make("th", "", "prompt"));
    for (const model of models) {
      const button = make("button", "", model || "image", model === column && column ? " ↑" : "");
      button.type = "button";
      button.addEventListener("click", () => {
        column = column === model ? "" : model;
        page = 0;
        show();
      });
      head.append(make("th", "", button));
    }
    for (const cell of head.children) cell.scope = "col";
    const body = make("tbody");
    for (const { prompt, cells } of shown) {
      const name = make("th", "", make("bdi", "", prompt.length > 200 ? `${prompt.slice(0, 200)}…` : prompt));
      name.scope = "row";
      const row = make("tr", "", name);
      for (const model of models) {
        const own = (cells.get(model) ?? []).slice(0, 4);
        row.append(make("td", "", ...own.map((s) => linked(s, picture(s, ""), make("span", "", ...pointed(s))))));
      }
      body.append(row);
    }
    const table = make("table", "matrix", make("caption", "", "Choose a model to order the prompts by its value"), make("thead", "", head), body);
    const scroll = make("div", "scroll", table);
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "Prompts and models");
    return scroll;
  }

  // ---- what is shown

  function show() {
    const isMatrix = form.elements.view.value === "matrix";
    const all = isMatrix ? rows() : chosen;
    const size = isMatrix ? ROWS : CARDS;
    const pages = Math.max(1, Math.ceil(all.length / size));
    page = Math.min(page, pages - 1);
    const shown = all.slice(page * size, (page + 1) * size);
    results.replaceChildren(!shown.length ? undo() : isMatrix ? matrix(shown) : make("ul", "cards", ...shown.map(card)));
    const sort = form.elements.sort.selectedOptions[0].textContent;
    count.textContent = `${chosen.length.toLocaleString("en")} of ${samples.length.toLocaleString("en")} samples` +
      (isMatrix ? ` in ${all.length.toLocaleString("en")} prompts` : "") + `, ${column && isMatrix ? `lowest of ${column} first` : sort}`;
    const [cards, own] = ["samples.html", "samples.html#view=matrix"].map((to) => document.querySelector(`.bar a[href="${to}"]`));
    (isMatrix ? cards : own)?.removeAttribute("aria-current");
    (isMatrix ? own : cards)?.setAttribute("aria-current", "page");
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
  // Nothing fits: what each filter would have to give up.
  function undo() {
    const active = [...form.elements].filter((field) => field.name && field.value && !["sort", "view"].includes(field.name));
    const buttons = active.map((field) => {
      const button = make("button", "small", `✕ ${field.labels[0].firstChild.textContent.trim()}: ${field.value}`);
      button.type = "button";
      button.addEventListener("click", () => {
        field.value = "";
        changed();
      });
      return button;
    });
    return make("p", "notice", "No sample has all of these. Remove one: ", make("span", "undo", ...buttons));
  }
  function apply() {
    const wanted = names.map((name) => form.elements[name]?.value ?? "");
    const places = names.map((name, at) => data.facets[name].indexOf(wanted[at]));
    const [from, to = 1] = form.elements.range.value.split("-").map(Number);
    const inside = ({ worst }) => !form.elements.range.value || (worst !== null && worst >= from && (worst < to || to >= 1));
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    chosen = samples.filter((sample) => inside(sample) &&
      places.every((place, at) => !wanted[at] || sample.facets[at].includes(place)) &&
      words.every((word) => sample.text.includes(word)));
    chosen.sort((a, b) => orders[form.elements.sort.value](a, b) || a.index - b.index);
    page = 0;
    show();
  }
  function changed() {
    apply();
    const state = new URLSearchParams();
    for (const field of form.elements) if (field.name && field.value && field.value !== first) state.set(field.name, field.value);
    history.replaceState(null, "", `#${state}`);
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
  form.addEventListener("input", changed);
  form.addEventListener("reset", () => setTimeout(changed));
  results.addEventListener("click", (event) => {
    if (!event.target.closest("a")) return;
    try {
      const shown = form.elements.view.value === "matrix" ? rows().flatMap((row) => [...row.cells.values()].flat()) : chosen;
      sessionStorage.setItem("onprompt order", JSON.stringify(shown.map((sample) => sample.address)));
    } catch {
      // no storage: the pages lead on in the order of the data
    }
  });
  // Only states that a gallery has: a link to a sample of the same page is not one.
  addEventListener("hashchange", () => /^#(\w+=|$)/.test(location.hash || "#") && recall());
  recall();
})();
