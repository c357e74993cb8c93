/** `signalbox queue`: how many step runs want a worker, as what starts workers reads it. */
import * as Workers from "@signalbox/api/Workers"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../../connection/Connection.ts"
import { printFields } from "../../output/List.ts"
import { groupNoun } from "../../resources/WorkerGroups.ts"
import { find } from "../../resources/Resource.ts"
import { processNoun } from "../../resources/Processes.ts"

/** For neither group nor label. */
const none = "none"

export const queue = Command.make(
  "queue",
  {
    process: Flag.String("process").pipe(
      Flag.withDescription("Only step runs of this process, by name or id"),
      Flag.optional
    ),
    group: Flag.String("group").pipe(
      Flag.withDescription(`Only step runs bound to this worker group, by name or id; \`${none}\`: to no group`),
      Flag.optional
    ),
    label: Flag.String("label").pipe(
      Flag.withDescription(
        `Only step runs that require this label, or exactly these labels; \`${none}\`: for no label`
      ),
      Flag.atLeast(0)
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, group, json, label, process }) {
    const program = Effect.gen(function* () {
      const ofProcess = Option.isNone(process) ? {} : { process: (yield* find(processNoun, process.value)).id }
      const ofGroup = Option.isNone(group)
        ? {}
        : { group: group.value === none ? null : (yield* find(groupNoun, group.value)).id }
      const labelled = label.length === 0 ? {} : { labels: label.filter((one) => one !== none) }
      return yield* Workers.queueDepth({ ...ofProcess, ...ofGroup, ...labelled })
    })
    yield* printFields(json, yield* connected(data)(program))
  })
).pipe(
  Command.withDescription("Counts step runs that need a worker: `waiting` for one, or `assigned` to one"),
  Command.withExamples([
    { command: "signalbox queue", description: "Count all step runs except those held by a pause" },
    {
      command: "signalbox queue --group none --label gpu",
      description: "Count the step runs for machines with this label"
    }
  ])
)
