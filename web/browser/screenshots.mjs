// Pictures for the documentation: node screenshots.mjs CHROMIUM ADDRESS FOLDER
import { ask, QUESTION } from "./asking.mjs";
import { drawn, landed, launch } from "./chromium.mjs";

const [, , chromium, address, folder] = process.argv;

const browser = await launch(chromium);
await pictured("dark", async (page, keep) => {
  await ask(page, address, QUESTION);
  await at(page, 2);
  await keep("replay-dark");
  await at(page, await page.getByLabel("Moment of the replay").getAttribute("max"));
  await page.locator(".hit summary").first().click();
  await keep("answer-dark");
});
await pictured("light", async (page, keep) => {
  await page.goto(address);
  await drawn(page);
  await page.getByRole("link", { name: "Graph" }).click();
  await landed(page);
  await keep("graph-light");
  await page.getByLabel("Find facts in the graph").fill("set to transaction mode");
  await page.locator(".matches button").first().click();
  await page.locator(".fact-text").waitFor();
  await landed(page);
  await keep("fact-light");
  await page.getByRole("link", { name: "Health" }).click();
  await page.keyboard.press("Escape");
  await page.locator(".figures").waitFor();
  await keep("health-light");
});
await browser.close();

async function pictured(colorScheme, take) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
  page.setDefaultTimeout(60_000);
  await take(page, async (name) => {
    await page.mouse.move(0, 0);
    await page.evaluate(() => document.activeElement?.blur());
    await page.waitForTimeout(700);
    await page.screenshot({ path: `${folder}/${name}.png` });
  });
  await page.close();
}

async function at(page, moment) {
  await page.getByLabel("Moment of the replay").fill(String(moment));
  await landed(page);
}
