// filters, and shows the engine whose letter was clicked; the page can do without
const filter = document.getElementById("filter");
const lines = [...document.querySelectorAll("details.line")];
const order = "CTDRXEAIO–";  // the worst first
function rows(line) { return [...line.querySelectorAll("tr[data-engine]")]; }
function pick(line, engine) {
  for (const item of line.querySelectorAll("section[data-engine]")) item.classList.toggle("picked", item.dataset.engine === engine);
}
for (const line of lines) {
  line.firstElementChild.addEventListener("click", event => {
    const chip = event.target.closest(".s");
    if (!chip) return;
    const engine = String([...chip.parentNode.querySelectorAll(".s")].indexOf(chip));
    const section = line.querySelector(`section[data-engine="${engine}"]`);
    if (line.open && section && !section.classList.contains("picked")) event.preventDefault();
    pick(line, engine);
  });
}
function reveal() {
  const target = document.getElementById(location.hash.slice(1));
  if (target && lines.includes(target)) { target.open = true; target.scrollIntoView(); }
}
addEventListener("hashchange", reveal);
if (filter) {
  const [text, engine, quantity, state, all, output] = filter.children;
  const chosen = {};  // classes of the states, by letter
  for (const chip of document.querySelectorAll(".legend .s")) chosen[chip.textContent] = chip.className;
  const apply = () => {
    const words = text.value.trim().toLowerCase();
    let shown = 0;
    for (const line of lines) {
      const chips = [...line.firstElementChild.querySelectorAll(".s")];
      let any = false;
      for (const row of rows(line)) {
        const letters = quantity.value === "" ? row.dataset.letters : row.dataset.letters[quantity.value];
        const letter = [...order].find(one => letters.includes(one)) || "";
        const chip = chips[row.dataset.engine];
        chip.textContent = letter;
        chip.className = letter ? chosen[letter] : "s";
        const named = engine.value === "" || engine.value === row.dataset.engine;
        const right = state.value === "" || (quantity.value === "" ? letters.includes(state.value) : letter === state.value);
        chip.classList.toggle("dim", !(named && right));
        any = any || (named && right);
      }
      const visible = any && (!words || line.textContent.toLowerCase().includes(words));
      line.classList.toggle("gone", !visible);
      shown += visible;
    }
    output.textContent = `${shown} of ${lines.length} robots`;
  };
  text.addEventListener("input", apply);
  for (const control of [engine, quantity, state]) control.addEventListener("change", apply);
  all.addEventListener("click", () => {
    const open = lines.some(line => !line.classList.contains("gone") && !line.open);
    for (const line of lines) if (!line.classList.contains("gone")) line.open = open;
  });
  filter.hidden = false;
  apply();
}
reveal();
