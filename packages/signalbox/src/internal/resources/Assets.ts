/** `signalbox assets`: named values that robots read. */
import * as Assets from "@signalbox/api/Assets"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags, print } from "../connection/Connection.ts"
import { deleteCommand, find, listCommand, nameArgument, type Noun, showCommand } from "./Resource.ts"

export const assetNoun: Noun<Assets.AssetSummary> = {
  one: "asset",
  many: "assets",
  command: "assets",
  list: (only) => Assets.stream({ limit: 500, ...only }),
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: { id: ({ id }) => id, name: ({ name }) => name },
  first: "create one with `signalbox assets create`"
}

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("The name of the asset")),
    file: Argument.String("file").pipe(Argument.withDescription("The file with its content")),
    contentType: Flag.String("content-type").pipe(
      Flag.withDescription("The content type, such as text/csv"),
      Flag.withDefault("application/octet-stream")
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ contentType, data, file, json, name }) {
    const id = yield* connected(data)(Assets.put(name, file, { contentType }))
    yield* print(json, { id, name }, () => `stored ${file} as the content of the asset ${name}`)
  })
).pipe(
  Command.withDescription("Creates an asset from a file, or replaces the content of an existing asset"),
  Command.withExamples([
    {
      command: "signalbox assets create prices prices.csv --content-type text/csv",
      description: "Create or update an asset"
    }
  ])
)

const download = Command.make(
  "download",
  {
    asset: nameArgument(assetNoun),
    file: Argument.String("file").pipe(Argument.withDescription("The file to write")),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ asset, data, file, json }) {
    const fs = yield* FileSystem.FileSystem
    const program = Effect.gen(function* () {
      const found = yield* find(assetNoun, asset)
      yield* Stream.run(Assets.download(found.id), fs.sink(file))
      yield* Console.log(json ? JSON.stringify({ ...found, file }) : `wrote ${found.name} to ${file}`)
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Writes the content of an asset to a file"),
  Command.withExamples([
    { command: "signalbox assets download prices prices.csv", description: "Write the content to prices.csv" }
  ])
)

export const assets = Command.make("assets").pipe(
  Command.withDescription("Lists, shows, creates, downloads and deletes assets"),
  Command.withSubcommands([
    listCommand(assetNoun),
    showCommand(assetNoun, ({ id }) => Assets.get(id)),
    create,
    download,
    deleteCommand(assetNoun, ({ id }) => Assets.remove(id))
  ])
)
