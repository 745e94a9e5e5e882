"use strict";
// Light and dark: as the system has it, until the switch says otherwise.

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = null;

function currentTheme() {
  return chosenTheme || (darkSystem.matches ? "dark" : "light");
}

function watchTheme(button, changed) {
  const show = () => {
    const theme = currentTheme();
    document.documentElement.dataset.theme = theme;
    button.textContent = theme === "dark" ? "☀ light" : "☾ dark";
    button.setAttribute("aria-label", `switch to the ${theme === "dark" ? "light" : "dark"} theme`);
    changed();
  };
  button.addEventListener("click", () => {
    chosenTheme = currentTheme() === "dark" ? "light" : "dark";
    show();
  });
  darkSystem.addEventListener("change", show);
  show();
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
