// Boxes light up with their checks, and checks with their boxes; pictures are zoomed, both versions of an edit slide
// over each other, and keys lead from sample to sample. All events are handled at the document: parts may come later.
"use strict";
(() => {
  const places = (element) => (element.dataset.check ?? element.dataset.checks ?? "").split(" ").filter(Boolean);
  const sources = "[data-check].located, .box, .tag";

  function light(card, wanted) {
    card.classList.toggle("lighting", wanted.length > 0);
    for (const each of card.querySelectorAll("[data-check], .box, .tag")) {
      const lit = places(each).some((place) => wanted.includes(place));
      each.classList.toggle("lit", lit && wanted.length > 0);
    }
  }
  function follow(event) {
    const card = event.target.closest?.(".verdict");
    if (!card) return;
    const source = event.target.closest(sources) ?? card.querySelector("[data-check]:focus");
    light(card, source ? places(source) : []);
  }
  document.addEventListener("pointerover", follow);
  document.addEventListener("focusin", follow);
  document.addEventListener("pointerout", (event) => {
    const card = event.target.closest?.(".verdict");
    if (card && !card.contains(event.relatedTarget)) light(card, []);
  });
  document.addEventListener("focusout", (event) => {
    const card = event.target.closest?.(".verdict");
    if (card) light(card, []);
  });

  // ---- zoom: around the point that was clicked, or the middle

  function zoom(seen, canvas, x = 0.5, y = 0.5) {
    const zoomed = seen.classList.toggle("zoomed");
    seen.querySelector("[data-zoom]")?.setAttribute("aria-pressed", String(zoomed));
    for (const each of zoomed ? seen.querySelectorAll(".canvas") : []) {
      each.scrollTo(x * each.scrollWidth - each.clientWidth / 2, y * each.scrollHeight - each.clientHeight / 2);
    }
    for (const each of seen.querySelectorAll(".canvas")) each.tabIndex = zoomed ? 0 : -1;
    if (zoomed) canvas?.focus({ preventScroll: true });
  }
  document.addEventListener("click", (event) => {
    const box = event.target.closest?.(".box, .tag");
    const [first] = box ? places(box) : [];
    if (first !== undefined) {
      box.closest(".verdict").querySelector(`[data-check="${first}"]`)?.focus();
      return;
    }
    const seen = event.target.closest?.(".seen");
    const canvas = event.target.closest?.(".canvas");
    if (!seen || !(canvas || event.target.closest("[data-zoom]"))) return;
    const at = canvas?.querySelector("img")?.getBoundingClientRect();
    if (at) zoom(seen, canvas, (event.clientX - at.left) / at.width, (event.clientY - at.top) / at.height);
    else zoom(seen, seen.querySelector(".canvas"));
  });

  // ---- keys

  // The order in which a gallery showed its samples, as long as this tab is open.
  function order() {
    try {
      return JSON.parse(sessionStorage.getItem("onprompt order")) ?? [];
    } catch {
      return [];
    }
  }
  const sample = () => document.querySelector(".views > .sample:target") ?? document.querySelector("main > .sample");
  function arrange() {
    const view = sample();
    const all = order();
    const own = view ? all.findIndex((address) => address.endsWith(view.id.replace("s", "").padStart(6, "0") + ".html") || address === `#${view.id}`) : -1;
    if (own < 0) return;
    for (const [rel, by] of [["prev", -1], ["next", 1]]) {
      const link = view.querySelector(`.steps a[rel=${rel}]`);
      const address = all[own + by];
      if (address) link.href = address.replace("samples/", "");
      else link.removeAttribute("href");
    }
    view.querySelector(".place").textContent = `${(own + 1).toLocaleString("en")} of ${all.length.toLocaleString("en")}`;
  }
  arrange();
  addEventListener("hashchange", arrange);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea")) return;
    const check = event.target.closest?.("[data-check]");
    const view = sample();
    if (check && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      const all = [...check.closest(".verdict").querySelectorAll("[data-check].located")];
      const next = all[all.indexOf(check) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) {
        event.preventDefault();
        next.focus();
      }
    } else if (event.key === "x" && document.querySelector(".seen")) {
      const seen = (view ?? document).querySelector(".seen");
      zoom(seen, seen.querySelector(".canvas"));
    } else if (view && !event.target.closest?.(".zoomed .canvas")) {
      const link = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
      if (link) view.querySelector(`.steps a[rel=${link}][href]`)?.click();
    }
  });
  document.addEventListener("input", (event) => {
    const versions = event.target.closest?.(".versions");
    if (!versions) return;
    if ("overlay" in event.target.dataset) versions.classList.toggle("overlaid", event.target.checked);
    if ("split" in event.target.dataset) versions.style.setProperty("--split", event.target.value / 100);
  });
  addEventListener("beforeprint", () => {
    for (const image of document.querySelectorAll("img[loading=lazy]")) image.loading = "eager";
  });
})();
