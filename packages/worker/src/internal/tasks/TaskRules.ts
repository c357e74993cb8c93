/** What the definition of a task can be; programs without types find out here. */
import { callable, check, named, type Rule } from "@signalbox/transport/OptionError"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

const schema: Rule = (value) =>
  Schema.isSchema(value) || Predicate.hasProperty(value, "~standard")
    ? null
    : "expected a schema of effect, or of a library with Standard Schema"

const rules = { name: named, input: schema, output: schema, run: callable }

interface Definition {
  readonly name: string
  readonly input?: unknown
  readonly output?: unknown
  readonly run: unknown
}

/** Throws an `OptionError` for a task that cannot be; `name` and `run` are required. */
export const checkTask = (of: string, { input, name, output, run }: Definition): void =>
  check(of, { name: name ?? null, input, output, run: run ?? null }, rules)
