/** The states of things, drawn from the tables that the service moves them by. */
import { instance } from "@viz-js/viz"
import * as Moves from "../../../packages/control-room/src/internal/engine/Moves.ts"
import { page } from "../markdown.ts"

const machines: ReadonlyArray<{
  readonly title: string
  readonly about: string
  readonly moves: ReadonlyArray<Moves.Move<string>>
}> = [
  {
    title: "A run",
    about:
      "A run is `unresolved` when nothing is open any more and an item failed. It becomes `completed` once its failed items are settled.",
    moves: Moves.processRunMoves
  },
  {
    title: "A step run",
    about: "A step run is one piece of work for a worker: a step of the process with some items of the run.",
    moves: Moves.stepRunMoves
  },
  {
    title: "A work item",
    about:
      "A work item travels from step to step: what a task creates is an item of the next step, or an output of the run.",
    moves: Moves.workItemMoves
  },
  {
    title: "A pause",
    about: "Of a process, a step, a worker or a worker group. What is in hand goes on.",
    moves: Moves.pauseMoves
  },
  { title: "A group of failures", about: "Items that failed in the same way.", moves: Moves.failureMoves },
  { title: "A bulk operation", about: "A job over many items or runs.", moves: Moves.bulkOperationMoves }
]

const graphOf = (moves: ReadonlyArray<Moves.Move<string>>) =>
  [
    "digraph {",
    // Its colours are those of the page: see `style.css`. What each move is for stands in the table.
    '  graph [bgcolor="transparent", rankdir=LR, nodesep=0.4, ranksep=0.6]',
    '  node [shape=box, style=rounded, fontname="system-ui", fontsize=14, margin="0.2,0.1"]',
    ...moves.map(({ from, to }) => `  "${from}" -> "${to}"`),
    "}"
  ].join("\n")

/** The page of all states. */
export const states = async (): Promise<string> => {
  const viz = await instance()
  const lines = machines.flatMap(({ about, moves, title }) => {
    const svg = viz
      .renderString(graphOf(moves), { format: "svg" })
      .replace(/^[^]*?<svg/, "<svg")
      .replace(/<!--[^]*?-->/g, "")
      .replace(/<title>[^]*?<\/title>/g, "")
      .replace(/\n\s*/g, "")
      .replace("<svg", `<svg role="img" aria-label="States of ${title.toLowerCase()}; the table below says the same"`)
    return [
      `## ${title}`,
      "",
      about,
      "",
      `<figure class="states">${svg}</figure>`,
      "",
      "| from | to | when |",
      "| --- | --- | --- |",
      ...moves.map(({ from, to, when }) => `| \`${from}\` | \`${to}\` | ${when} |`),
      ""
    ]
  })
  return page("States", lines.join("\n"), {
    description:
      "The states of runs, step runs, work items, pauses, failures and bulk operations, and every move between them."
  })
}
