// Scenarios of the whole graph: what is drawn, found, filtered, and how quickly.
import assert from "node:assert/strict";
import { drawn, landed } from "./chromium.mjs";

async function look(page, address) {
  await page.goto(address);
  await drawn(page);
  await page.getByRole("link", { name: "Graph" }).click();
  await page.getByLabel("Find facts in the graph").waitFor();
}

/** Click on a spot until something shows: a busy machine may not have drawn yet what is under the pointer. */
async function clickUntilSeen(page, spot, wanted) {
  for (let clicks = 0; clicks < 4; clicks += 1) {
    await page.mouse.click(spot.x, spot.y);
    const isSeen = await wanted.waitFor({ timeout: 4000 }).then(
      () => true,
      () => false,
    );
    if (isSeen) return;
  }
  assert.fail("Nothing showed after four clicks.");
}

/** What the layers of the graph look like just now. */
const seen = (page) =>
  page
    .locator(".stage-canvas")
    .screenshot()
    .then((png) => png.toString("base64"));

export default {
  "the graph tells what it draws": async ({ page, addresses }) => {
    await look(page, addresses.team);
    const label = await page.locator(".stage-canvas").getAttribute("aria-label");
    const [nodes, links] = label.match(/\d+/g).map(Number);
    assert.ok(nodes >= 90 && links >= 200, label);
    assert.equal((await page.locator(".communities li").count()) > 5, true);
  },

  "a search finds facts, and a click opens one": async ({ page, addresses }) => {
    await look(page, addresses.team);
    await page.getByLabel("Find facts in the graph").fill("pgbouncer transaction");
    const matches = page.locator(".matches button");
    await matches.first().waitFor();
    assert.ok((await matches.allInnerTexts()).every((text) => /pgbouncer/i.test(text) && /transaction/i.test(text)));
    await matches.first().click();
    await page.locator(".fact-text", { hasText: "transaction mode" }).waitFor();
  },

  "a search finds what a fact says far behind its beginning": async ({ page, addresses }) => {
    await look(page, addresses.odd);
    await page.getByLabel("Find facts in the graph").fill("drawing of a zeppelin");
    await page.locator(".matches button", { hasText: "The minutes of the meeting" }).click();
    await page.locator(".fact-text", { hasText: "zeppelin" }).waitFor();
  },

  "communities of two scopes are two, though their numbers are one": async ({ page, addresses }) => {
    await look(page, addresses.odd);
    await page.locator(".communities li").first().waitFor();
    const listed = await page.locator(".communities li").count();
    assert.match(await page.locator(".panel.graph .answer p").innerText(), new RegExp(`\\b${listed} communities`));
  },

  "a chosen scope that is gone hides nothing": async ({ page, addresses }) => {
    await look(page, addresses.odd);
    await page.getByLabel("Scope").selectOption("cellar");
    await page.getByLabel("Find facts in the graph").fill("the");
    await page.locator(".found h3", { hasText: "1 fact found" }).waitFor();
    await page.locator(".matches button").click();
    await page.locator(".fact-actions").getByRole("button", { name: "Forget", exact: true }).click();
    await page.getByRole("button", { name: "Forget it" }).click();
    await page.locator(".fact-panel").waitFor({ state: "hidden" });
    await page.locator(".found h3", { hasText: /^[2-9] facts found/ }).waitFor();
    assert.equal(await page.getByLabel("Scope").inputValue(), "");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator(".fact-text", { hasText: "cellar" }).waitFor();
  },

  "leaving out a kind of link changes the picture": async ({ page, addresses }) => {
    await look(page, addresses.team);
    await landed(page);
    const before = await seen(page);
    await page.getByRole("checkbox", { name: /^similar/ }).uncheck();
    await page.waitForTimeout(200);
    assert.notEqual(await seen(page), before);
  },

  "the time slider hides what came later": async ({ page, addresses }) => {
    await look(page, addresses.team);
    await page.getByLabel("Find facts in the graph").fill("postgresql");
    const found = page.locator(".found h3");
    const all = Number.parseInt(await found.innerText());
    await page.locator(".time input").fill("0.05");
    assert.match(await page.locator(".time output").innerText(), /^up to \d+ \w+ 2025$/);
    assert.ok(Number.parseInt(await found.innerText()) < all);
  },

  "facts of another kind are left out": async ({ page, addresses }) => {
    await look(page, addresses.team);
    await page.getByLabel("Find facts in the graph").fill("the");
    const found = page.locator(".found h3");
    const all = Number.parseInt(await found.innerText());
    await page.getByLabel("Kind of fact").selectOption({ index: 1 });
    assert.notEqual(Number.parseInt(await found.innerText()), all);
  },

  "a community is brought near by its name": async ({ page, addresses }) => {
    await look(page, addresses.team);
    await landed(page);
    const before = await seen(page);
    await page.locator(".communities button").first().click();
    await landed(page);
    assert.notEqual(await seen(page), before);
  },

  "a click on a point opens its fact": async ({ page, addresses }) => {
    await look(page, addresses.team);
    await page.getByLabel("Find facts in the graph").fill("coffee machine");
    await page.locator(".matches button").first().click();
    await page.locator(".fact-text").waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".fact-panel").isHidden(), true);
    await landed(page);
    const box = await page.locator(".stage-canvas").boundingBox();
    const fact = page.locator(".fact-text", { hasText: "coffee machine" });
    await clickUntilSeen(page, { x: box.x + box.width / 2, y: box.y + box.height / 2 }, fact);
  },
};
