// Names of communities over the graph, shown while the camera is far away.
import type { Colours } from "../colours.ts";
import { colours } from "../theme.ts";
import { spoken } from "../wording.ts";
import { shortName, type Atlas } from "./atlas.ts";
import { outlined, overlap, type Box } from "./labels.ts";
import { communityId, type Point } from "./layout.ts";
import type { Painter, Stage } from "./stage.ts";

type Project = Parameters<Painter>[1];

const NEAR = 0.35;
const FAR = 0.6;
const MOST = 24;
const SMALLEST = 3;

/** A painter of the names of all communities with visible facts. */
export function namesOn(stage: Stage, shows: (id: string) => boolean = () => true): Painter {
  return (context, project) => {
    const strength = Math.min(1, Math.max(0, (stage.ratio() - NEAR) / (FAR - NEAR)));
    if (stage.atlas && !stage.atlas.within && strength > 0) paintNames(context, stage.atlas, project, { strength, shows, colours: colours() });
  };
}

interface Look {
  strength: number;
  shows: (id: string) => boolean;
  colours: Colours;
}

function paintNames(context: CanvasRenderingContext2D, atlas: Atlas, project: Project, look: Look): void {
  context.font = "600 12.5px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  const names = new Map(atlas.communities.map((one) => [communityId(one.scope, one.number), spoken(shortName(one.name))]));
  const taken: Box[] = [];
  for (const disc of atlas.discs.slice(0, MOST)) {
    if (disc.members.length < SMALLEST) break;
    const name = names.get(communityId(disc.scope, disc.community));
    const top = name && crown(disc.members.filter(look.shows), project);
    if (!name || !top) continue;
    const half = context.measureText(name).width / 2 + 4;
    const box = { left: top.x - half, right: top.x + half, top: top.y - 22, bottom: top.y - 4 };
    if (taken.some((other) => overlap(box, other))) continue;
    taken.push(box);
    outlined(context, name, { x: top.x, y: top.y - 13 }, look.colours, 0.9 * look.strength);
  }
}

/** The point above the highest fact of a community, horizontally centred. */
function crown(members: readonly string[], project: Project): Point | null {
  const points = members
    .slice(0, 400)
    .map(project)
    .filter((one) => one !== null);
  if (points.length < 2) return null;
  return { x: points.reduce((sum, one) => sum + one.x, 0) / points.length, y: Math.min(...points.map((one) => one.y)) };
}
