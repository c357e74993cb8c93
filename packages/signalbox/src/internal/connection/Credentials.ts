/** The first workspace and key of a data folder, and the file with the credentials. */
import { Credentials } from "@signalbox/api/Credentials"
import { Administration, type FirstKey } from "@signalbox/control-room/Administration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

export { Credentials }

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Credentials))

/** Written under a temporary name and renamed, so that readers never see a partial file. */
const write = Effect.fnUntraced(function* (file: string, credentials: Credentials) {
  const fs = yield* FileSystem.FileSystem
  const temporary = `${file}.new`
  yield* fs.remove(temporary, { force: true })
  yield* fs.writeFileString(temporary, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: "wx" })
  yield* fs.rename(temporary, file)
})

/**
 * Creates the first workspace, with this name, and a key if they do not exist, and writes `credentials.json` (0600)
 * with the address of this start. The next start completes an interrupted one. Nodes of one database that share the
 * folder and start concurrently create one key.
 */
export const ensureCredentials = Effect.fn("ensureCredentials")(function* (
  data: string,
  baseUrl: string,
  name = "default"
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { ensureFirstKey } = yield* Administration
  const file = path.join(data, "credentials.json")
  const credentialsOf = ({ key, workspaceId }: FirstKey): Credentials => ({
    base_url: baseUrl,
    workspace_id: workspaceId,
    api_key: Redacted.value(key)
  })
  const first = yield* ensureFirstKey({
    workspace: name,
    saved: Effect.option(fs.readFileString(file)).pipe(
      Effect.map(Option.flatMap(decode)),
      Effect.map((old) => (Option.isSome(old) ? Redacted.make(old.value.api_key) : null))
    ),
    save: (first) => write(file, credentialsOf(first))
  })
  return credentialsOf(first)
})
