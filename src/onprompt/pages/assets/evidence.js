// Boxes light up with their checks, and checks with their boxes; both versions of an edit slide over each other.
// All events are handled at the document, so that parts of a page may come later.
"use strict";
(() => {
  const places = (element) => {
    const given = element.dataset.check ?? element.dataset.checks ?? "";
    return given.split(" ").filter(Boolean);
  };
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
    const source = event.target.closest(sources);
    const kept = card.querySelector("[data-check]:focus");
    light(card, source ? places(source) : kept ? places(kept) : []);
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
  document.addEventListener("click", (event) => {
    const box = event.target.closest?.(".box, .tag");
    const first = box && places(box)[0];
    if (first !== undefined && first !== null) box.closest(".verdict").querySelector(`[data-check="${first}"]`)?.focus();
  });
  document.addEventListener("keydown", (event) => {
    const check = event.target.closest?.("[data-check]");
    if (!check || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
    const all = [...check.closest(".verdict").querySelectorAll("[data-check].located")];
    const next = all[all.indexOf(check) + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  });
  document.addEventListener("input", (event) => {
    const versions = event.target.closest?.(".versions");
    if (!versions) return;
    if ("overlay" in event.target.dataset) versions.classList.toggle("overlaid", event.target.checked);
    if ("split" in event.target.dataset) versions.style.setProperty("--split", `${event.target.value}%`);
  });
  // A link to something inside closed details opens them.
  function reveal() {
    const target = document.getElementById(location.hash.slice(1));
    const closed = target?.closest("details:not([open])");
    if (closed) {
      closed.open = true;
      target.scrollIntoView();
    }
  }
  addEventListener("hashchange", reveal);
  reveal();
  // Inside another page, such as a gallery, keys that mean something there are passed on.
  if (window !== window.parent) {
    document.documentElement.classList.add("embedded");
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, select, textarea");
      const passed = ["ArrowLeft", "ArrowRight", "Escape"].includes(event.key);
      if (passed && !typing) window.parent.postMessage({ onprompt: event.key }, "*");
    });
  }
})();
