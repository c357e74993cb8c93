import * as Secrets from "@signalbox/api/Secrets"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { fileText, resolve, variable } from "./Content.ts"
import type { Document, Secret, SecretItem } from "./Document.ts"
import { type Section, type Step, unchanged } from "./Step.ts"

const valueOf = Effect.fnUntraced(function* (field: string, item: SecretItem, folder: string) {
  if (typeof item !== "object") return item
  if ("value" in item) return item.value
  const text = "env" in item ? yield* variable(field, item.env) : yield* fileText(field, resolve(folder, item.file))
  return Redacted.make(text)
})

const contentOf = Effect.fnUntraced(function* (name: string, { description, hosts, items }: Secret, folder: string) {
  const values = yield* Effect.forEach(Object.entries(items), ([item, given]) =>
    Effect.map(valueOf(`secrets.${name}.items.${item}`, given, folder), (value) => [item, value] as const)
  )
  const content: Secrets.Content = {
    items: Object.fromEntries(values),
    description,
    hosts
  }
  return content
})

/**
 * Secrets: values cannot be read back, so those of an existing secret are written again only with `rewrite`, or when
 * its description or its hosts change.
 */
export const plan = Effect.fnUntraced(function* (
  wanted: NonNullable<Document["secrets"]>,
  folder: string,
  rewrite: boolean
) {
  const existing = yield* Stream.runCollect(Secrets.stream())
  const steps: Array<Step> = []
  for (const [name, secret] of Object.entries(wanted)) {
    const found = existing.find((known) => known.name === name)
    const described = secret.description !== undefined && secret.description !== found?.description
    const moved = secret.hosts !== undefined && secret.hosts.toSorted().join() !== found?.hosts.toSorted().join()
    if (found !== undefined && !rewrite && !described && !moved) {
      steps.push(unchanged("secret", name, "values cannot be compared; --rewrite-secrets writes them"))
      continue
    }
    const content = yield* contentOf(name, secret, folder)
    const run = Secrets.put(name, content)
    const action = found === undefined ? "create" : "change"
    const detail =
      found === undefined
        ? "values"
        : [...(described ? ["description"] : []), ...(moved ? ["hosts"] : []), "values"].join(", ")
    steps.push({ kind: "secret", name, action, detail, run })
  }
  const extra = existing
    .filter(({ name }) => !Object.hasOwn(wanted, name))
    .map(({ name }): Step => ({ kind: "secret", name, action: "delete", detail: "", run: Secrets.remove(name) }))
  const section: Section = { steps, extra }
  return section
})
