// Scenarios of a memory with more facts than can be drawn: communities stand for them, and each can be opened.
import assert from "node:assert/strict";
import { drawn, landed } from "./chromium.mjs";

const DRAWN_ONE_BY_ONE = 20;

/** The team's memory, as if the page could draw but a few facts one by one: the server answers with clusters. */
async function lookFromAfar(page, address) {
  await page.route(/\/graph\?limit=\d+$/, (route) =>
    route.continue({ url: route.request().url().replace(/limit=\d+/, `limit=${DRAWN_ONE_BY_ONE}`) }),
  );
  await page.goto(address);
  await drawn(page);
  await page.getByRole("link", { name: "Graph" }).click();
  await page.locator("[data-cluster]").first().waitFor();
  await landed(page);
}

/** The middle of a spot of one colour that is as wide as a node, in a picture of the stage. */
async function spotOf(page, colour) {
  const box = await page.locator(".stage-canvas").boundingBox();
  const png = (await page.locator(".stage-canvas").screenshot()).toString("base64");
  const found = await page.evaluate(searched, { png, colour });
  assert.ok(found, `nothing is drawn in ${colour}`);
  return { x: box.x + (found.x * box.width) / found.width, y: box.y + (found.y * box.height) / found.height };
}

async function searched({ png, colour }) {
  const bytes = Uint8Array.from(atob(png), (one) => one.charCodeAt(0));
  const map = await createImageBitmap(new Blob([bytes]));
  const { width, height } = map;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(map, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const is = (x, y) => colour.every((value, part) => Math.abs(data[4 * (y * width + x) + part] - value) < 3);
  for (let y = 4; y < height - 4; y++)
    for (let x = 4; x < width - 4; x++)
      if ([-3, 0, 3].every((dx) => [-3, 0, 3].every((dy) => is(x + dx, y + dy)))) return { x, y, width, height };
  return null;
}

const colourOf = (row) =>
  row.locator(".dot").evaluate((dot) => getComputedStyle(dot).backgroundColor.match(/\d+/g).slice(0, 3).map(Number));

/** Click where a colour is drawn until the cluster opens: on a busy machine a layout still moves under the first click. */
async function clickUntilOpened(page, colour) {
  const back = page.getByRole("button", { name: "All communities" });
  for (let attempt = 0; attempt < 10; attempt++) {
    const spot = await spotOf(page, colour);
    await page.mouse.click(spot.x, spot.y);
    const opened = await back.waitFor({ timeout: 4000 }).then(() => true, () => false);
    if (opened) return;
  }
  assert.fail("a click on the drawn cluster does not open it");
}

const heading = (page) => page.locator(".panel.graph h2");

export default {
  "a click on a cluster opens its facts, and a button leads back to all": async ({ page, addresses }) => {
    await lookFromAfar(page, addresses.team);
    const all = await heading(page).innerText();
    await clickUntilOpened(page, await colourOf(page.locator("[data-cluster]").first()));
    const [facts] = (await page.locator(".panel.graph .answer p").innerText()).match(/^\d+/);
    const label = await page.locator(".stage-canvas").getAttribute("aria-label");
    assert.match(label, new RegExp(`^Graph of memory: ${facts} nodes, [1-9]`));
    await page.getByRole("button", { name: "All communities" }).click();
    await page.locator("[data-cluster]").first().waitFor();
    assert.equal(await heading(page).innerText(), all);
  },

  "a fact of an opened cluster is found and opened": async ({ page, addresses }) => {
    await lookFromAfar(page, addresses.team);
    await page.locator("[data-cluster]").first().click();
    await page.getByRole("button", { name: "All communities" }).waitFor();
    await page.getByLabel("Find facts in the graph").fill("e");
    await page.locator(".matches button").first().click();
    await page.locator(".fact-text").waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".fact-panel").isHidden(), true);
    assert.equal(await page.getByRole("button", { name: "All communities" }).isVisible(), true);
  },

  "keys lead into a cluster and out of it, and the focus goes with them": async ({ page, addresses }) => {
    await lookFromAfar(page, addresses.team);
    const row = page.locator("[data-cluster]").nth(1);
    const name = await row.locator("span").innerText();
    await row.press("Enter");
    await page.waitForFunction(() => document.activeElement?.textContent === "All communities");
    assert.equal(await heading(page).innerText(), name);
    await page.keyboard.press("Escape");
    await page.waitForFunction(
      (wanted) => document.activeElement?.matches("[data-cluster]") && document.activeElement.textContent.startsWith(wanted),
      name,
    );
  },

  "a cluster is found by its name": async ({ page, addresses }) => {
    await lookFromAfar(page, addresses.team);
    const name = await page.locator("[data-cluster] span").first().innerText();
    await page.getByLabel("Find communities by name").fill(name.split(",")[0]);
    await page.locator(".matches button").first().click();
    await page.getByRole("button", { name: "All communities" }).waitFor();
  },

  "an opened cluster is left for another screen, and all clusters are there again": async ({ page, addresses }) => {
    await lookFromAfar(page, addresses.team);
    const all = await page.locator(".stage-canvas").getAttribute("aria-label");
    await page.locator("[data-cluster]").first().click();
    await page.getByRole("button", { name: "All communities" }).waitFor();
    await page.getByRole("link", { name: "Ask" }).click();
    await page.locator(`.stage-canvas[aria-label="${all}"]`).waitFor();
    await page.getByRole("link", { name: "Graph" }).click();
    await page.locator("[data-cluster]").first().waitFor();
  },
};
