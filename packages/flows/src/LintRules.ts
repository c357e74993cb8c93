/**
 * A plugin for ESLint and for the JS plugins of oxlint that finds nondeterministic code in bodies of flows: the clock, random
 * numbers, requests, and concurrency that is not the flow's. It imports nothing, so that linters load it quickly.
 */

/** The properties of a syntax tree (ESTree) that the rule reads. */
interface Node {
  readonly type: string
  readonly parent?: Node | null
  readonly name?: string
  readonly value?: unknown
  readonly computed?: boolean
  readonly callee?: Node
  readonly object?: Node
  readonly property?: Node
  readonly key?: Node
  readonly arguments?: ReadonlyArray<Node>
  readonly source?: Node
  readonly specifiers?: ReadonlyArray<Node>
  readonly imported?: Node
  readonly local?: Node
}

interface RuleContext {
  readonly report: (problem: { readonly node: Node; readonly message: string }) => void
}

/** The two forms of a body. */
type Form = "effect" | "promise"
type Remedies = Readonly<Record<Form, string>>

const both = (text: string): Remedies => ({ effect: text, promise: text })
const inStep = both("do it in the run of a step, whose result is recorded")
const time: Remedies = { effect: "use Flow.now", promise: "use ctx.now" }
const sleep: Remedies = { effect: "use Flow.sleep", promise: "use ctx.sleep" }
const all: Remedies = { effect: "use Flow.all or Flow.forEach", promise: "use ctx.all or ctx.forEach" }
const race: Remedies = { effect: "use Flow.race", promise: "use ctx.race" }
const timeout: Remedies = { effect: "use Flow.timeout, or the timeout of a step", promise: "use ctx.timeout" }
const retry = both("use the retry of a step: step.with({ retry })")
const promise = both("call it in the run of a step")

/** Members that a body must not call, by their owner. `*`: all. */
const members: Readonly<Record<string, Readonly<Record<string, Remedies>>>> = {
  Date: { now: time },
  performance: { now: time },
  Math: { random: inStep },
  crypto: { "*": inStep },
  Effect: {
    sleep,
    delay: sleep,
    all,
    race,
    raceAll: race,
    raceFirst: race,
    timeout,
    timeoutOption: timeout,
    timeoutOrElse: timeout,
    retry,
    repeat: retry,
    promise,
    tryPromise: promise,
    forkChild: all,
    forkDetach: all
  },
  Promise: { all, allSettled: all, any: race, race }
}

const functions: Readonly<Record<string, Remedies>> = {
  Date: time,
  fetch: inStep,
  setTimeout: sleep,
  setInterval: sleep,
  setImmediate: sleep
}

const nameOf = (node: Node | undefined): string | null =>
  node === undefined ? null : node.type === "Identifier" ? (node.name ?? null) : null

const propertyOf = ({ computed, property }: Node): string | null =>
  computed === true ? (typeof property?.value === "string" ? property.value : null) : nameOf(property)

/** The global or import that a member belongs to: `crypto` of `globalThis.crypto.subtle`. */
const ownerOf = (node: Node): string | null => {
  const object = node.object
  if (object?.type !== "MemberExpression") return nameOf(object)
  return nameOf(object.object) === "globalThis" ? propertyOf(object) : ownerOf(object)
}

const flowModule = /(?:^@signalbox\/flows\/|^\.{1,2}\/(?:.*\/)?)(Flow|Promises)(?:\.[jt]s)?$/
const effectModule = /^effect(?:\/Effect)?$/

/** The local names of the functions that define flows and steps. */
interface Names {
  /** Of `Flow`. */
  readonly flow: Set<string>
  readonly effect: Set<string>
  /** Functions imported by name, with their names in their module. */
  readonly functions: Map<string, string>
}

const readImport = ({ source, specifiers = [] }: Node, names: Names) => {
  const from = String(source?.value)
  const isFlow = flowModule.test(from)
  for (const { imported, local, type } of specifiers) {
    const here = nameOf(local)
    const there = nameOf(imported)
    if (here === null) continue
    if (type === "ImportNamespaceSpecifier" && isFlow) names.flow.add(here)
    else if (type === "ImportNamespaceSpecifier" && effectModule.test(from)) names.effect.add(here)
    else if (there === "Effect" && effectModule.test(from)) names.effect.add(here)
    else if (there !== null && isFlow) names.functions.set(here, there)
  }
}

/** Returns `make`, `step`, `defineFlow` or `defineStep` when a call is one of these, else null. */
const calledOf = ({ callee }: Node, names: Names): string | null => {
  if (callee === undefined) return null
  const name = nameOf(callee)
  if (name !== null) return names.functions.get(name) ?? null
  const owner = callee.type === "MemberExpression" ? nameOf(callee.object) : null
  return owner !== null && names.flow.has(owner) ? propertyOf(callee) : null
}

const forms: Readonly<Record<string, Form>> = { make: "effect", defineFlow: "promise" }
const steps = new Set(["step", "defineStep"])

/** Returns the form of the body around a node; null outside of bodies, and in a step. */
const bodyAround = (node: Node, names: Names): Form | null => {
  let below: Node = node
  let isRun = false
  for (let at = node.parent; at !== null && at !== undefined; below = at, at = at.parent) {
    if (at.type === "Property" && below !== at.key) isRun = nameOf(at.key) === "run"
    if (at.type !== "CallExpression" || below === at.callee) continue
    const called = calledOf(at, names)
    if (called !== null && steps.has(called)) return null
    const form = called === null ? undefined : forms[called]
    if (form !== undefined) return isRun ? form : null
  }
  return null
}

const create = (context: RuleContext) => {
  const names: Names = { flow: new Set(), effect: new Set(), functions: new Map() }

  const refuse = (node: Node, what: string, remedies: Remedies | undefined) => {
    const form = remedies === undefined ? null : bodyAround(node, names)
    if (form === null || remedies === undefined) return
    context.report({
      node,
      message: `${what} in the body of a flow runs again in each replay: ${remedies[form]}`
    })
  }
  const member = (node: Node) => {
    const owner = ownerOf(node)
    const property = propertyOf(node)
    if (owner === null || property === null) return
    // `crypto.subtle.digest` is reported once.
    if (node.parent?.type === "MemberExpression" && node.parent.object === node) return
    const known = members[names.effect.has(owner) ? "Effect" : owner]
    if (owner === "Effect" && !names.effect.has(owner)) return
    refuse(node, `${owner}.${property}`, known?.[property] ?? known?.["*"])
  }
  const call = (node: Node, isNew: boolean) => {
    const name = nameOf(node.callee)
    if (name === null) return
    // A date with arguments is deterministic.
    if (isNew && (name !== "Date" || (node.arguments?.length ?? 0) > 0)) return
    const remedies = Object.hasOwn(functions, name) ? functions[name] : undefined
    refuse(node, isNew ? `new ${name}()` : `${name}()`, remedies)
  }

  return {
    ImportDeclaration: (node: Node) => readImport(node, names),
    MemberExpression: member,
    CallExpression: (node: Node) => call(node, false),
    NewExpression: (node: Node) => call(node, true)
  }
}

/**
 * The plugin, with one rule: `signalbox-flows/pure-body`. With oxlint:
 *
 * ```json
 * {
 *   "jsPlugins": ["@signalbox/flows/LintRules"],
 *   "rules": { "signalbox-flows/pure-body": "error" }
 * }
 * ```
 *
 * With ESLint 9 and later:
 *
 * ```ts
 * import flows from "@signalbox/flows/LintRules"
 *
 * export default [
 *   {
 *     plugins: { "signalbox-flows": flows },
 *     rules: { "signalbox-flows/pure-body": "error" }
 *   }
 * ]
 * ```
 *
 * It checks the code in the `run` of `Flow.make` and `defineFlow`; `Flow.run(…, { verify: true })` also covers functions that a
 * body calls elsewhere. A forgotten `yield*` is found by `floatingEffect` of effect's language service.
 */
const plugin = {
  meta: { name: "signalbox-flows" },
  rules: {
    "pure-body": {
      meta: {
        type: "problem",
        docs: { description: "bodies of flows get time, random values and results only from steps" },
        schema: []
      },
      create
    }
  }
} as const

export default plugin
