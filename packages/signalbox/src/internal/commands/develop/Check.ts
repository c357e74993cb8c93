/** `signalbox check`: whether everything that is stored is present and undamaged. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Administration from "@signalbox/control-room/Administration"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Problem from "../../output/Problem.ts"
import { flagsOf } from "../../settings/Setting.ts"
import * as Storage from "../../settings/Storage.ts"

/** Something that is stored is missing or damaged. */
export class NotSound extends TaggedError<NotSound>()("NotSound", { message: Schema.String }) {}

const Head = Schema.fromJsonString(
  Schema.Struct({ workspace_id: Schema.String, number: Schema.Int, mac: Schema.String })
)

const headsIn = Effect.fnUntraced(function* (file: string) {
  const text = yield* (yield* FileSystem.FileSystem).readFileString(file)
  const lines = text.split("\n").filter((line) => line !== "")
  return yield* Effect.forEach(lines, (line) => Schema.decodeUnknownEffect(Head)(line)).pipe(
    Effect.mapError(() => new NotSound({ message: `${file}: write it with \`signalbox audit head --json\`` }))
  )
})

const linesOf = ({ check, files = [], message, ok }: Administration.Finding) => [
  `${ok ? "ok     " : "PROBLEM"}  ${check.padEnd(10)}  ${message}`,
  ...files.map(
    ({ altered, blob, found, id, name, owner, size }) =>
      `           file ${id} (${JSON.stringify(name)} of ${owner}): ${found ?? "no"} of ${size} bytes${altered ? ", which are altered" : ""}, in ${blob}`
  )
]

export const check = Command.make(
  "check",
  {
    storage: flagsOf(Storage.storage),
    auditHead: Flag.String("audit-head").pipe(
      Flag.withDescription(
        "A file that `signalbox audit head --json` has written: finds entries that were cut off since"
      ),
      Flag.optional
    ),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one line of JSON"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function* ({ auditHead, json, storage }) {
    const options = yield* Storage.read(storage)
    const auditHeads = Option.isNone(auditHead) ? [] : yield* headsIn(auditHead.value)
    const findings = yield* Administration.check(options, { auditHeads }).pipe(
      Effect.catchCause((cause) =>
        Effect.succeed<ReadonlyArray<Administration.Finding>>([
          { check: "database", ok: false, message: Problem.ofCause(cause) }
        ])
      )
    )
    const wrong = findings.filter(({ ok }) => !ok)
    if (json) yield* Console.log(JSON.stringify({ ok: wrong.length === 0, checks: findings }))
    else yield* Console.log(findings.flatMap(linesOf).join("\n"))
    if (wrong.length > 0) {
      return yield* new NotSound({ message: `problems with: ${wrong.map(({ check }) => check).join(", ")}` })
    }
  })
).pipe(
  Command.withDescription(
    "Checks the database, the master key, the audit and the bytes of every file. Changes nothing; the service may run. Exits with 1 when a check fails"
  ),
  Command.withExamples([
    { command: "signalbox check --data .signalbox", description: "Print missing and damaged files" },
    {
      command: "SIGNALBOX_DATABASE_URL=postgres://... signalbox check --json",
      description: "Print JSON, with SIGNALBOX_MASTER_KEY and SIGNALBOX_DATA of the nodes"
    }
  ])
)
