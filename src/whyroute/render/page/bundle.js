
// What a button highlights: the constraints of a clash or of a way out, wherever they stand among the slots.
(() => {
  const announce = (text) => { document.getElementById("announce").textContent = text; };
  const toggles = [...document.querySelectorAll(".toggle")];
  const marked = [...document.querySelectorAll("[data-constraint]")];
  const show = (pressed) => {
    for (const each of toggles) each.setAttribute("aria-pressed", String(each === pressed));
    const wanted = new Set(pressed ? pressed.dataset.constraints.split(" ") : []);
    for (const each of marked) each.classList.toggle("lit", wanted.has(each.dataset.constraint));
    announce(pressed ? `Highlighted: ${pressed.dataset.name}` : "Nothing highlighted");
    if (pressed) marked.find((each) => each.classList.contains("lit"))?.scrollIntoView({ block: "nearest" });
  };
  for (const each of toggles) {
    each.addEventListener("click", () => show(each.getAttribute("aria-pressed") === "true" ? null : each));
  }
})();
