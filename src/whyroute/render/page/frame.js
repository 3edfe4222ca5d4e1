
"use strict";
// What every page has: the theme, and copying.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const byId = (id) => document.getElementById(id);

  // Theme: what the system says until somebody chooses.

  const theme = byId("theme");
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches);
  const showTheme = () => theme.setAttribute("aria-pressed", String(isDark()));
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  systemDark.addEventListener("change", showTheme);
  showTheme();

  // Copying a patch. Where the clipboard is closed to us, the text is selected for the reader to copy.

  const announce = (text) => { byId("announce").textContent = text; };
  for (const button of document.querySelectorAll(".copy")) {
    const label = button.firstChild;
    button.addEventListener("click", async () => {
      const text = button.parentElement.querySelector("pre");
      let done = "Copied";
      try {
        await navigator.clipboard.writeText(text.textContent);
      } catch {
        getSelection().selectAllChildren(text);
        done = "Selected";
      }
      label.textContent = done;
      announce(done);
      setTimeout(() => { label.textContent = "Copy"; }, 2000);
    });
  }
})();
