/** What the commands of every kind of resource have in common: `list`, `show` and `delete` from one description. */
import { TaggedError } from "@signalbox/transport/Printed"
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Named from "@signalbox/api/Named"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { confirm, yesFlag } from "./Confirm.ts"
import { connected, connectionFlags } from "../connection/Connection.ts"
import { type Columns, printFields, printList } from "../output/List.ts"
import { suggest } from "@signalbox/transport/Suggestions"
import * as FlagValues from "../settings/FlagValues.ts"

/** Nothing, or more than one thing, has this name or id. */
export class NameError extends TaggedError<NameError>()("NameError", { message: Schema.String }) {}

type Call<A> = Effect.Effect<A, CallError, ControlRoom>

/** A kind of resource of a workspace. */
export interface Noun<Listed> extends Named.Kind<Listed> {
  readonly one: string
  readonly many: string
  /** The group of commands, such as `processes`. */
  readonly command: string
  readonly columns: Columns<Listed>
  /** How the first one is made, as the end of a sentence. */
  readonly first: string
}

/** The one that was found; fails when there is none, or more than one. */
const only = <Listed>(noun: Noun<Listed>, given: string, { among, found }: Named.Found<Listed>) => {
  const [named, ...more] = found
  if (named !== undefined && more.length === 0) return Effect.succeed(named)
  const message =
    named === undefined
      ? `no ${noun.one} has the name or id ${given || '""'}: ${suggest(given, among.map(noun.nameOf))}; see \`signalbox ${noun.command} list\``
      : `${more.length + 1} ${noun.many} have the name ${given}: give an id, ${[named, ...more].map(noun.idOf).join(" or ")}`
  return Effect.fail(new NameError({ message }))
}

/** Finds a resource by its id or name. */
export const find = Effect.fnUntraced(function* <Listed>(noun: Noun<Listed>, given: string) {
  return yield* only(noun, given, yield* Named.find(noun, given))
})

/** Finds resources by their ids or names; fails before anything is done when one is unknown, or a name is ambiguous. */
export const findAll = Effect.fnUntraced(function* <Listed>(noun: Noun<Listed>, given: ReadonlyArray<string>) {
  const [one, ...more] = given
  if (one !== undefined && more.length === 0) return [yield* find(noun, one)]
  const all = yield* Stream.runCollect(noun.list({}))
  return yield* Effect.forEach(given, (one) => only(noun, one, Named.matching(noun, all, one)))
})

/** The argument that names one. */
export const nameArgument = <Listed>({ one }: Noun<Listed>) =>
  Argument.String(one.toLowerCase().replaceAll(" ", "-")).pipe(
    Argument.withDescription(`The name or the id of a ${one}`)
  )

export const limitFlag = FlagValues.limit.pipe(Flag.withDescription("How many at most; default: all"), Flag.optional)

/** `list`. */
export const listCommand = <Listed>(noun: Noun<Listed>) =>
  Command.make(
    "list",
    { limit: limitFlag, ...connectionFlags },
    Effect.fnUntraced(function* ({ data, json, limit }) {
      const found = Option.isSome(limit) ? Stream.take(noun.list({}), limit.value) : noun.list({})
      const none = `No ${noun.many} yet: ${noun.first}`
      yield* connected(data)(printList(json, found, noun.columns, none))
    })
  ).pipe(
    Command.withDescription(`Lists ${noun.many}, newest first`),
    Command.withExamples([
      { command: `signalbox ${noun.command} list`, description: "Print a table" },
      { command: `signalbox ${noun.command} list --json`, description: "Print one line of JSON for each" }
    ])
  )

/** `show`, with all that is known of one. */
export const showCommand = <Listed, Shown extends object>(noun: Noun<Listed>, get: (listed: Listed) => Call<Shown>) =>
  Command.make(
    "show",
    { name: nameArgument(noun), ...connectionFlags },
    Effect.fnUntraced(function* ({ data, json, name }) {
      const shown = Effect.flatMap(find(noun, name), get)
      yield* printFields(json, yield* connected(data)(shown))
    })
  ).pipe(
    Command.withDescription(`Shows ${/^[aeio]/i.test(noun.one) ? "an" : "a"} ${noun.one}`),
    Command.withExamples([
      { command: `signalbox ${noun.command} show NAME`, description: "By its name or its id" },
      { command: `signalbox ${noun.command} show NAME --json`, description: "Print one line of JSON" }
    ])
  )

/** `delete`: one without a question, as it is named; more are asked about. */
export const deleteCommand = <Listed>(noun: Noun<Listed>, remove: (listed: Listed) => Call<unknown>) =>
  Command.make(
    "delete",
    { names: Argument.variadic(nameArgument(noun), { min: 1 }), yes: yesFlag, ...connectionFlags },
    Effect.fnUntraced(function* ({ data, json, names, yes }) {
      const program = Effect.gen(function* () {
        const found = yield* findAll(noun, names)
        if (found.length > 1) yield* confirm(`delete ${found.length} ${noun.many}`, yes)
        for (const listed of found) {
          yield* remove(listed)
          const [id, name] = [noun.idOf(listed), noun.nameOf(listed)]
          yield* Console.log(json ? JSON.stringify({ id, name, deleted: true }) : `deleted ${noun.one} ${name}`)
        }
      })
      yield* connected(data)(program)
    })
  ).pipe(
    Command.withDescription(`Deletes ${noun.many}. Irreversible; deleting several asks first, or needs --yes`),
    Command.withExamples([
      { command: `signalbox ${noun.command} delete NAME`, description: "By its name or its id" },
      { command: `signalbox ${noun.command} delete NAME OTHER --yes`, description: "Delete two without asking" }
    ])
  )
