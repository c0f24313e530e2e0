// Tooltips and legends of all figures of the page. Without it the figures are complete, but not interactive.
(() => {
  "use strict";
  const tip = document.createElement("div");
  tip.className = "gnan-tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  document.body.append(tip);

  const place = (x, y) => {
    const box = tip.getBoundingClientRect();
    const left = x + 14 + box.width > innerWidth ? x - box.width - 10 : x + 14;
    const top = y + 14 + box.height > innerHeight ? y - box.height - 10 : y + 14;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = Math.max(4, top) + "px";
  };
  const show = (element, x, y) => {
    tip.textContent = element.dataset.tip;
    tip.hidden = false;
    place(x, y);
  };
  const hide = () => { tip.hidden = true; };

  const toggle = (svg, entry) => {
    const off = entry.classList.toggle("off");
    entry.setAttribute("aria-pressed", String(!off));
    for (const element of svg.querySelectorAll("[data-series]")) {
      if (element.dataset.series === entry.dataset.toggle) element.classList.toggle("hidden", off);
    }
  };

  for (const svg of document.querySelectorAll(".gnan-figure svg")) {
    svg.addEventListener("pointermove", (event) => {
      const element = event.target.closest("[data-tip]");
      if (element) show(element, event.clientX, event.clientY); else hide();
    });
    svg.addEventListener("pointerleave", hide);
    for (const entry of svg.querySelectorAll("[data-toggle]")) {
      entry.setAttribute("tabindex", "0");
      entry.setAttribute("role", "button");
      entry.setAttribute("aria-pressed", "true");
      entry.addEventListener("click", () => toggle(svg, entry));
      entry.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(svg, entry); }
      });
    }
    // With the keyboard: focus the figure, then step through what it has to say.
    let at = -1;
    const point = (step) => {
      const all = [...svg.querySelectorAll("[data-tip]")].filter((e) => !e.closest(".hidden"));
      if (all.length === 0) return;
      svg.querySelector(".pointed")?.classList.remove("pointed");
      at = (Math.max(at, step > 0 ? -1 : 0) + step + all.length) % all.length;
      all[at].classList.add("pointed");
      const box = all[at].getBoundingClientRect();
      show(all[at], box.left + box.width / 2, box.top + box.height / 2);
    };
    svg.addEventListener("keydown", (event) => {
      if (event.target !== svg) return;
      if (event.key === "ArrowRight" || event.key === "ArrowDown") { event.preventDefault(); point(1); }
      if (event.key === "ArrowLeft" || event.key === "ArrowUp") { event.preventDefault(); point(-1); }
      if (event.key === "Escape") hide();
    });
    svg.addEventListener("blur", () => {
      svg.querySelector(".pointed")?.classList.remove("pointed");
      hide();
    });
  }
  // Of the parts of a chooser, the chosen one is seen.
  for (const chooser of document.querySelectorAll(".chooser")) {
    const list = chooser.querySelector("select");
    if (!list) continue;
    const choose = () => {
      for (const part of chooser.querySelectorAll("[data-choice]")) {
        part.classList.toggle("not-chosen", part.dataset.choice !== list.value);
      }
    };
    list.addEventListener("change", choose);
    choose();
  }
  document.documentElement.dataset.figures = "ready";
})();
