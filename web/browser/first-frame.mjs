// Milliseconds from navigation to the first drawn frame, visit by visit: node first-frame.mjs CHROMIUM ADDRESS VISITS
import { launch } from "./chromium.mjs";

const [, , chromium, address, visits] = process.argv;

const browser = await launch(chromium);
const frames = [];
for (let visit = 0; visit < Number(visits); visit++) frames.push(await visited());
await browser.close();
console.log(JSON.stringify({ frames }));

/** A visit by someone who was never here: nothing is kept from the one before. */
async function visited() {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(address);
  const stage = page.locator(".stage-canvas[data-drawn]");
  await stage.waitFor({ timeout: 120_000 });
  const drawn = Number(await stage.getAttribute("data-drawn"));
  await page.close();
  return drawn;
}
