/** What `/metrics` serves, and that the dashboard, the alert rules and the documentation name nothing else. */
import { assert, layer as withLayer } from "@effect/vitest"
import type { SyntaxNode } from "@lezer/common"
import { parser } from "@prometheus-io/lezer-promql"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as Yaml from "effect/encoding/Yaml"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Gauges from "../src/internal/runs/Gauges.ts"
import { ended, hookTo, newProcess, settled, started } from "./support/Hooks.ts"
import { receiver } from "./support/Receiver.ts"
import { layerIn, linkWorker, Service, temporaryFolder } from "./support/Service.ts"

const root = join(import.meta.dirname, "..", "..", "..")
const read = (path: string) => readFileSync(join(root, path), "utf8")

/** The values of each label of each metric. */
type Served = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

const parseServed = (text: string): Served => {
  const served = new Map<string, Map<string, Set<string>>>()
  for (const [, name = "", labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = served.get(name) ?? new Map<string, Set<string>>()
    served.set(name, known)
    for (const [, label = "", value = ""] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      known.set(label, (known.get(label) ?? new Set()).add(value))
    }
  }
  return served
}

/** Of a histogram, its name alone. */
const familyOf = (name: string) => name.replace(/_(bucket|count|sum)$/, "")

/** The metrics of a room that has worked: runs of all ends, and deliveries of all outcomes. */
const worked = Effect.gen(function* () {
  const { raw } = yield* Service
  const target = yield* receiver
  const process = yield* newProcess()
  const hooks = yield* Effect.forEach([200, 503, 410], (status) =>
    Effect.tap(hookTo(target, process, ["process_run.completed"]), ({ path }) =>
      target.on(path, (received) => received.answer(status))
    )
  )
  yield* ended(process)
  yield* ended(process, true)
  for (const { webhook } of hooks) yield* settled(webhook.id, 1)
  // One that no worker takes.
  yield* started((yield* newProcess()).process)
  yield* linkWorker(["nothing"])
  yield* raw("GET", "/nowhere")
  yield* Effect.flatten(Gauges.make)
  const { status, text } = yield* raw("GET", "/metrics", { key: null })
  assert.strictEqual(status, 200)
  return { process, served: parseServed(text), text }
})

/** The labels that Prometheus adds. */
const added = ["job", "instance", "le"]

/** The metrics that an expression selects, with what it says of their labels. */
const selected = (expression: string) => {
  const text = expression.replaceAll("$__rate_interval", "5m")
  const textOf = ({ from, to }: SyntaxNode) => text.slice(from, to)
  const found: Array<{ name: string; matchers: ReadonlyArray<readonly [string, string, string]> }> = []
  const grouped: Array<string> = []
  const faults: Array<string> = []
  const all = (node: SyntaxNode, name: string): ReadonlyArray<SyntaxNode> => [
    ...(node.name === name ? [node] : []),
    ...childrenOf(node).flatMap((child) => all(child, name))
  ]
  const childrenOf = (node: SyntaxNode) => {
    const children: Array<SyntaxNode> = []
    for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child)
    return children
  }
  const top = parser.parse(text).topNode
  parser.parse(text).iterate({
    enter: ({ from, type }) => {
      if (type.isError) faults.push(`${expression} at ${from}`)
    }
  })
  for (const selector of all(top, "VectorSelector")) {
    const [name = assert.fail(`no metric is named in ${expression}`)] = all(selector, "Identifier").map(textOf)
    const matchers = all(selector, "UnquotedLabelMatcher").map((matcher) => {
      const [label = "", operator = "", value = ""] = childrenOf(matcher).map(textOf)
      return [label, operator, JSON.parse(value)] as const
    })
    found.push({ name, matchers })
  }
  for (const labels of all(top, "GroupingLabels")) grouped.push(...all(labels, "LabelName").map(textOf))
  return { faults, found, grouped }
}

/** What an expression names that the room does not serve. */
const unknownIn = (expression: string, served: Served): ReadonlyArray<string> => {
  const { faults, found, grouped } = selected(expression)
  const ofMetrics = found.flatMap(({ matchers, name }): ReadonlyArray<string> => {
    // Prometheus makes it itself.
    if (name === "up") return []
    const labels = served.get(name)
    if (labels === undefined) return [name]
    return matchers.flatMap(([label, operator, value]) => {
      if (added.includes(label)) return []
      const values = labels.get(label)
      if (values === undefined) return [`${name}{${label}}`]
      // Others are patterns, or values that the room need not have.
      return operator === "=" && !values.has(value) ? [`${name}{${label}="${value}"}`] : []
    })
  })
  const known = new Set([...added, ...found.flatMap(({ name }) => [...(served.get(name)?.keys() ?? [])])])
  const ofGroups = grouped.filter((label) => !known.has(label)).map((label) => `by (${label})`)
  return [...faults, ...(found.length === 0 ? [`no metric in ${expression}`] : []), ...ofMetrics, ...ofGroups]
}

const Dashboard = Schema.Struct({
  uid: Schema.String,
  templating: Schema.Struct({ list: Schema.Array(Schema.Struct({ name: Schema.String, type: Schema.String })) }),
  panels: Schema.Array(
    Schema.Struct({
      id: Schema.Int,
      type: Schema.String,
      title: Schema.NonEmptyString,
      datasource: Schema.optionalKey(Schema.Struct({ type: Schema.String, uid: Schema.String })),
      gridPos: Schema.Struct({ x: Schema.Int, y: Schema.Int, w: Schema.Int, h: Schema.Int }),
      targets: Schema.optionalKey(
        Schema.Array(
          Schema.Struct({
            refId: Schema.String,
            expr: Schema.NonEmptyString,
            datasource: Schema.Struct({ uid: Schema.String })
          })
        )
      )
    })
  )
})

const Rules = Schema.Struct({
  groups: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      rules: Schema.Array(
        Schema.Struct({
          alert: Schema.String,
          expr: Schema.String,
          for: Schema.String,
          labels: Schema.Struct({ severity: Schema.Literals(["warning", "critical"]) }),
          annotations: Schema.Struct({ summary: Schema.NonEmptyString, runbook_url: Schema.String })
        })
      )
    })
  )
})

const dashboard = Effect.flatMap(
  Effect.sync(() => read("deploy/grafana/signalbox.json")),
  Schema.decodeEffect(Schema.fromJsonString(Dashboard))
)

const rules = Effect.flatMap(
  Effect.sync(() => Yaml.parse(read("deploy/prometheus/signalbox.rules.yml"))),
  Schema.decodeUnknownEffect(Rules)
).pipe(Effect.map(({ groups }) => groups.flatMap((group) => group.rules)))

const duplicates = (all: ReadonlyArray<string | number>) => all.filter((one, index) => all.indexOf(one) !== index)

/** A room with metrics of its own: those of other tests in this process are not among them. */
const layer = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) => layerIn(folder, { rateLimit: null, metrics: true }))
).pipe(Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map())))

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("metrics", (it) => {
  it.effect("count what happened, and name what the dashboard, the rules and the documentation name", () =>
    Effect.gen(function* () {
      const { process, served, text } = yield* worked
      const valueOf = (name: string, ...labels: ReadonlyArray<string>) => {
        const line = text
          .split("\n")
          .find((one) => one.startsWith(name) && labels.every((label) => one.includes(label)))
        return Number(line?.split(" ").at(-1))
      }
      const named = `process="${process.name}"`
      assert.strictEqual(valueOf("signalbox_process_runs_total{", named, 'action="started"'), 2)
      assert.strictEqual(valueOf("signalbox_process_runs_total{", named, 'action="completed"'), 1)
      assert.strictEqual(valueOf("signalbox_process_runs_total{", named, 'action="unresolved"'), 1)
      assert.strictEqual(valueOf("signalbox_step_runs_ended_total{", 'error="ROBOT_FAILURE"'), 1)
      assert.strictEqual(valueOf("signalbox_step_runs_ended_total{", 'error="none"'), 1)
      assert.strictEqual(valueOf("signalbox_step_runs_ended_total{", 'error="WORKER_LOST"'), 0)
      for (const outcome of ["delivered", "retried", "failed"]) {
        assert.strictEqual(valueOf("signalbox_webhook_attempts_total{", `outcome="${outcome}"`), 1)
      }
      assert.strictEqual(valueOf("signalbox_webhook_deliveries_pending"), 1)
      assert.strictEqual(valueOf("signalbox_workers{", 'state="online"'), 3)
      assert.strictEqual(valueOf("signalbox_step_runs_waiting"), 1)
      assert.strictEqual(valueOf("signalbox_work_items_waiting{", named, 'state="pending"'), 0)
      assert.isAbove(valueOf("signalbox_http_request_seconds_count{", 'interface="lease"'), 0)
      assert.isAbove(valueOf("signalbox_database_transaction_seconds_count"), 0)
      assert.isAbove(valueOf("signalbox_process_memory_bytes"), 1e6)

      const { panels } = yield* dashboard
      const ofDashboard = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
      assert.isAbove(ofDashboard.length, 30)
      const ofRules = (yield* rules).map(({ expr }) => expr)
      assert.isAbove(ofRules.length, 10)
      assert.deepStrictEqual(
        [...ofDashboard, ...ofRules].flatMap((expression) => unknownIn(expression, served)),
        []
      )
      // A test of the test: what is not there is found.
      assert.deepStrictEqual(
        unknownIn('sum by (nothing) (rate(signalbox_gone{a="b"}[5m])) + signalbox_workers{state="asleep"}', served),
        ["signalbox_gone", 'signalbox_workers{state="asleep"}', "by (nothing)"]
      )
      assert.isAbove(unknownIn("sum(rate(signalbox_paused[5m])", served).length, 0)

      const documented = [...read("docs/operate/watch.md").matchAll(/^\| `(signalbox_\w+)` +\|/gm)].map(
        ([, name]) => name
      )
      const ofRoom = [...new Set([...served.keys()].map(familyOf))].filter((name) => name.startsWith("signalbox_"))
      assert.deepStrictEqual(documented.toSorted(), ofRoom.toSorted())
      const counters = [...text.matchAll(/^# TYPE (signalbox_\w+) counter$/gm)].map(([, name = ""]) => name)
      assert.isAbove(counters.length, 5)
      assert.deepStrictEqual(
        counters.filter((name) => !name.endsWith("_total")),
        []
      )
    })
  )

  it.effect("have a dashboard without duplicate ids and overlaps, with its data source as a variable", () =>
    Effect.gen(function* () {
      const { panels, templating } = yield* dashboard
      assert.deepStrictEqual(duplicates(panels.map(({ id }) => id)), [])
      assert.deepStrictEqual(duplicates(panels.map(({ title }) => title)), [])
      assert.isTrue(templating.list.some(({ name, type }) => name === "datasource" && type === "datasource"))
      const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) => {
        assert.isAtMost(x + w, 24)
        return Array.from({ length: h * w }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`)
      })
      assert.strictEqual(new Set(cells).size, cells.length)
      for (const { datasource, targets = [], title, type } of panels) {
        if (type === "row") continue
        assert.strictEqual(datasource?.uid, "${datasource}", title)
        assert.isAbove(targets.length, 0, title)
        assert.deepStrictEqual(duplicates(targets.map(({ refId }) => refId)), [], title)
        for (const target of targets) assert.strictEqual(target.datasource.uid, "${datasource}", title)
      }
    })
  )

  it.effect("have alert rules with a summary and a runbook that exists", () =>
    Effect.gen(function* () {
      const all = yield* rules
      assert.deepStrictEqual(duplicates(all.map(({ alert }) => alert)), [])
      for (const { alert, annotations } of all) {
        const [, path = "", anchor = ""] = /\/blob\/main\/([^#]+)#(.+)$/.exec(annotations.runbook_url) ?? []
        assert.isTrue(existsSync(join(root, path)), annotations.runbook_url)
        const anchors = [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading.toLowerCase())
        assert.include(anchors, anchor)
        assert.strictEqual(anchor, alert.toLowerCase())
      }
    })
  )
})
