// Scenarios of a fact: reading, changing, connecting, forgetting and its undoing.
import assert from "node:assert/strict";
import { drawn } from "./chromium.mjs";

async function openFact(page, address, words) {
  await page.goto(address);
  await drawn(page);
  await page.getByRole("link", { name: "Graph" }).click();
  await page.getByLabel("Find facts in the graph").fill(words);
  await page.locator(".matches button").first().click();
  await page.locator(".fact-text").waitFor();
}

const act = (page, name) => page.locator(".fact-actions").getByRole("button", { name, exact: true });

export default {
  "a fact shows its text, tags, particulars and links": async ({ page, addresses }) => {
    await openFact(page, addresses.team, "prepared statements need");
    assert.match(await page.locator(".fact-text").innerText(), /Prepared statements need session mode/);
    assert.deepEqual(await page.locator(".tags li").allInnerTexts(), ["db"]);
    assert.match(await page.locator(".particulars").innerText(), /handbook\.md/);
    assert.ok((await page.locator(".links li").count()) >= 2);
  },

  "a link leads to the fact at its other end": async ({ page, addresses }) => {
    await openFact(page, addresses.team, "prepared statements need");
    const target = (await page.locator(".links li button span").first().innerText()).slice(0, 30);
    await page.locator(".links li button").first().click();
    await page.locator(".fact-text", { hasText: target }).waitFor();
  },

  "an edited fact keeps what it said before": async ({ page, addresses }) => {
    await openFact(page, addresses.team, "plants are watered");
    await act(page, "Edit").click();
    await page.getByLabel("Text", { exact: true }).fill("The plants are watered on Tuesdays.");
    await page.getByLabel("Tags, separated by commas").fill("office, plants");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.locator(".fact-text", { hasText: "Tuesdays" }).waitFor();
    await page.locator(".tags li", { hasText: "plants" }).waitFor();
    assert.match(await page.locator(".history").innerText(), /watered on Mondays/);
    assert.deepEqual(await page.locator(".tags li").allInnerTexts(), ["office", "plants"]);
  },

  "tags that nobody touched stay as they are, commas and all": async ({ page, addresses }) => {
    await openFact(page, addresses.odd, "lease of the second office");
    await act(page, "Edit").click();
    await page.getByLabel("Text", { exact: true }).fill("The lease of the second office ends in July.");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.locator(".fact-text", { hasText: "July" }).waitFor();
    assert.deepEqual(await page.locator(".tags li").allInnerTexts(), ["berlin, germany", "office"]);
  },

  "a fact is pinned and unpinned": async ({ page, addresses }) => {
    await openFact(page, addresses.team, "bicycles go into");
    await act(page, "Pin").click();
    await page.locator(".badge", { hasText: "pinned" }).waitFor();
    await act(page, "Unpin").click();
    await page.locator(".badge", { hasText: "pinned" }).waitFor({ state: "detached" });
  },

  "an archived fact leaves the graph until it is restored": async ({ page, addresses }) => {
    await openFact(page, addresses.team, "VAT for Portugal");
    await act(page, "Archive").click();
    await page.getByText("No fact contains this").waitFor();
    await act(page, "Restore").click();
    await page.locator(".found h3", { hasText: "1 fact found" }).waitFor();
  },

  "two facts are connected": async ({ page, addresses }) => {
    await openFact(page, addresses.team, "big meeting room");
    await act(page, "Connect").click();
    await page.getByLabel("Kind of link").fill("elaborates");
    await page.getByLabel("Find the other fact").fill("office moved to Hafenstrasse");
    await page.locator(".picked-from button", { hasText: "Hafenstrasse" }).click();
    await page.locator(".fact-form").getByRole("button", { name: "Connect" }).click();
    await page.locator(".links", { hasText: "elaborates" }).waitFor();
    assert.match(await page.locator(".links").innerText(), /Hafenstrasse/);
  },

  "what would be forgotten is shown first, and nothing is lost by looking": async ({ page, addresses }) => {
    await openFact(page, addresses.team, "support inbox gets");
    await act(page, "Forget").click();
    await page.getByText("Forget this fact?").waitFor();
    assert.match(await page.locator(".radius").innerText(), /words in the index/);
    await page.getByRole("button", { name: "Keep it" }).click();
    assert.equal(await page.locator(".fact-form").count(), 0);
    assert.match(await page.locator(".fact-text").innerText(), /support inbox/);
  },

  "a forgotten fact is gone, and undo brings it back": async ({ page, addresses }) => {
    await openFact(page, addresses.team, "door code of the old");
    const count = page.locator(".count");
    const before = Number.parseInt(await count.innerText());
    await act(page, "Forget").click();
    await page.getByRole("button", { name: "Forget it" }).click();
    await page.locator(".count", { hasText: String(before - 1) }).waitFor();
    assert.equal(await page.locator(".fact-panel").isHidden(), true);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator(".fact-text", { hasText: "door code of the old office" }).waitFor();
    await page.locator(".count", { hasText: String(before) }).waitFor();
  },
};
