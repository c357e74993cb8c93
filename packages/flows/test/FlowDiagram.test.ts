import { assert, it } from "@effect/vitest"
import * as FlowDiagram from "../src/FlowDiagram.ts"
import type { Entry } from "../src/FlowExecutions.ts"

const step = (path: string, startedAt: number, more: Partial<Entry> = {}): Entry => ({
  name: path,
  path,
  kind: "step",
  input: null,
  attempt: 1,
  redo: 0,
  begun: 1,
  ended: 2,
  due: null,
  subject: null,
  host: null,
  state: "succeeded",
  value: null,
  failure: null,
  startedAt,
  endedAt: startedAt + 1_500,
  ...more
})

it("draws steps in the order of their begin, and what is around them as groups", () => {
  const diagram = FlowDiagram.mermaid([
    step("file[b/c.csv]/submit", 20, { attempt: 1, state: "failed" }),
    step("file[b/c.csv]/submit", 2_000, { attempt: 2 }),
    step("file[a]/submit", 10, { state: "failed" }),
    step("first", 0),
    step("nap", 5_000, { kind: "sleep" })
  ])
  assert.strictEqual(
    diagram,
    `flowchart TD
  s0["first<br/>1.5 s"]
  s3(["nap<br/>1.5 s"])
  s0 --> s3
  subgraph g0["file[a]"]
    s1["submit<br/>1.5 s"]
  end
  subgraph g1["file[b/c.csv]"]
    s2["submit<br/>1.5 s, attempt 2"]
  end
  classDef failed stroke:#c00,stroke-width:2px
  class s1 failed
`
  )
})

it("lets no key break out of its text", () => {
  const diagram = FlowDiagram.mermaid([step('note["] --> x\nclick]', 0)])
  assert.strictEqual(diagram, 'flowchart TD\n  s0["note[#quot;] --> x click]<br/>1.5 s"]\n')
})
