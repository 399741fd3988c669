// opens the robot a link leads to, and filters; the page can do without
const robots = [...document.querySelectorAll("details.robot")];
function reveal() {
  const target = document.getElementById(location.hash.slice(1));
  const robot = target && target.closest("details.robot");
  if (robot && !robot.open) { robot.open = true; target.scrollIntoView(); }
}
addEventListener("hashchange", reveal);
addEventListener("click", event => { if (event.target.closest("a[href^='#']")) setTimeout(reveal); });
reveal();

const filter = document.querySelector(".filter");
if (filter) {
  const [text, verdict, all] = filter.children;
  const apply = () => {
    for (const item of document.querySelectorAll("[data-verdicts]")) {
      item.hidden = !item.dataset.robot.toLowerCase().includes(text.value.trim().toLowerCase())
        || (verdict.value && !item.dataset.verdicts.split(",").includes(verdict.value));
    }
  };
  text.addEventListener("input", apply);
  verdict.addEventListener("change", apply);
  all.addEventListener("click", () => {
    const open = robots.some(robot => !robot.hidden && !robot.open);
    for (const robot of robots) if (!robot.hidden) robot.open = open;
  });
  filter.hidden = false;
  apply();
}
