/** `signalbox items edit` and `items attach`: corrects an item that waits or has failed. */
import { TaggedError } from "@signalbox/transport/Printed"
import { WorkItemId } from "@signalbox/api/contract/Ids"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags, print } from "../../connection/Connection.ts"
import { attachFiles, BadPayload, checkReadable } from "../../resources/NewItem.ts"
import * as PayloadEdit from "../../resources/PayloadEdit.ts"
import { givenText } from "../../files/GivenText.ts"

/** The item has another payload than the one that was read a moment before. */
export class ItemChanged extends TaggedError<ItemChanged>()("ItemChanged", { message: Schema.String }) {}

/** The flags ask for nothing, or for what does not go together. */
export class EditFlagError extends TaggedError<EditFlagError>()("EditFlagError", { message: Schema.String }) {}

export const itemArgument = Argument.String("item").pipe(
  Argument.withDescription("The id of a work item"),
  Argument.withSchema(WorkItemId)
)

const several = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), Flag.atLeast(0))

/** JSON as it is given, of a file, or of standard input. */
const readPayload = Effect.fnUntraced(function* (given: string) {
  const json = PayloadEdit.parse(yield* givenText("--payload", given))
  if (json !== null) return json.value
  return yield* new BadPayload({
    message: "--payload: Expected JSON, @FILE for a file with JSON, or - for standard input; a text is JSON in quotes"
  })
})

const cut = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

const shown = (json: Schema.Json | undefined) => (json === undefined ? "(none)" : cut(JSON.stringify(json)))

const changeLine = ({ after, before, pointer }: PayloadEdit.Change) =>
  `${pointer === "" ? "payload" : pointer}: ${shown(before)} → ${shown(after)}`

/** Replaces the payload by what the flags make of it, unless somebody else has changed it since it was read. */
const editPayload = Effect.fnUntraced(function* (
  item: WorkItemId,
  whole: Option.Option<Schema.Json>,
  edits: ReadonlyArray<PayloadEdit.Edit>
) {
  const { payload: before } = yield* WorkItems.getExact(item)
  let after = Option.getOrElse(whole, () => before)
  for (const edit of edits) after = yield* Effect.fromResult(PayloadEdit.apply(after, edit))
  const changes = PayloadEdit.changes(before, after)
  if (changes.length === 0) return changes
  yield* WorkItems.updatePayload(item, after, { previous: before }).pipe(
    Effect.catchTag("Conflict", (conflict) =>
      Effect.fail(
        conflict.message.startsWith("previous_payload")
          ? new ItemChanged({
              message: `item ${item} was changed by another request, and not by this command: check it with \`signalbox items show ${item}\`, then run the command again`
            })
          : conflict
      )
    )
  )
  return changes
})

export const edit = Command.make(
  "edit",
  {
    item: itemArgument,
    set: several("set", "POINTER=JSON", "Set the value at a JSON pointer; text needs no quotes; may be repeated"),
    remove: several("remove", "POINTER", "Remove the value at a JSON pointer, after all of --set; may be repeated"),
    payload: Flag.String("payload").pipe(
      Flag.withDescription("The whole payload: JSON, the path of a file after @, or - for standard input"),
      Flag.withMetavar("JSON | @FILE | -"),
      Flag.optional
    ),
    file: several("file", "PATH", "Attach a file, replacing one of the same name; may be repeated"),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, file, item, json, payload, remove, set }) {
    const edits = [
      ...(yield* Effect.forEach(set, (given) => Effect.fromResult(PayloadEdit.parseSet(given)))),
      ...(yield* Effect.forEach(remove, (given) => Effect.fromResult(PayloadEdit.parseRemove(given))))
    ]
    if (Option.isSome(payload) && edits.length > 0) {
      return yield* new EditFlagError({ message: "--payload: cannot be combined with --set and --remove" })
    }
    if (Option.isNone(payload) && edits.length === 0 && file.length === 0) {
      return yield* new EditFlagError({ message: "nothing to change: use --set, --remove, --payload or --file" })
    }
    const whole = Option.isNone(payload) ? Option.none() : Option.some(yield* readPayload(payload.value))
    yield* Effect.forEach(file, (path) => checkReadable("--file", path), { discard: true })
    const isPayload = Option.isSome(whole) || edits.length > 0
    const changes = yield* Effect.gen(function* () {
      const changed = isPayload ? yield* editPayload(item, whole, edits) : []
      yield* attachFiles(item, file)
      return changed
    }).pipe(connected(data))
    if (json) return yield* Console.log(JSON.stringify({ id: item, changes, files: file }))
    if (isPayload && changes.length === 0) yield* Console.log("the payload is unchanged")
    for (const change of changes) yield* Console.log(changeLine(change))
    for (const path of file) yield* Console.log(`attached ${path}`)
  })
).pipe(
  Command.withDescription("Edits the payload and files of an item that is new, failed or waiting for a retry"),
  Command.withExamples([
    {
      command: 'signalbox items edit 0199a1b2-... --set /amount=12.5 --set "/lines/0/name=a lamp" --remove /note',
      description: "Change parts and print the difference; then run signalbox items retry 0199a1b2-..."
    },
    {
      command: "signalbox items edit 0199a1b2-... --payload @order.json --file invoice.pdf",
      description: "Replace the payload and attach a file"
    }
  ])
)

export const attach = Command.make(
  "attach",
  {
    item: itemArgument,
    files: Argument.String("file").pipe(
      Argument.withDescription("The path of a file; may be repeated"),
      Argument.variadic({ min: 1 })
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, files, item, json }) {
    yield* Effect.forEach(files, (path) => checkReadable("file", path), { discard: true })
    yield* connected(data)(attachFiles(item, files))
    yield* print(json, { id: item, files }, () => files.map((path) => `attached ${path}`).join("\n"))
  })
).pipe(
  Command.withDescription("Attaches files to an item, replacing files of the same name"),
  Command.withExamples([
    { command: "signalbox items attach 0199a1b2-... invoice.pdf terms.pdf", description: "Attach two files" }
  ])
)
