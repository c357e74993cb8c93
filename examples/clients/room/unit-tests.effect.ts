/** Tests of a program that uses a room, without one: by functions in its place, and by calls that were recorded. */
import { ControlRoom, type Options } from "@signalbox/api/ControlRoom"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import { mock, refuse } from "@signalbox/api/mock"
import { record, replay } from "@signalbox/api/recording"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Redacted from "effect/Redacted"

/** The program: whether anything waits for somebody. */
const isQuiet = Effect.map(
  WorkItems.list({ state: "failed", limit: 1 }),
  ({ data }) => data.length === 0
)

const nowhere: Options = {
  baseUrl: "http://room.example",
  apiKey: Redacted.make("any"),
  workspaceId: WorkspaceId.make("any")
}

const over = (fetch: typeof globalThis.fetch, options = nowhere) =>
  isQuiet.pipe(
    Effect.provide(ControlRoom.layer(options)),
    Effect.provideService(FetchHttpClient.Fetch, fetch)
  )

/** Without a room at all. */
export const withMock = Effect.gen(function* () {
  const empty = mock({
    listWorkItems: () => ({ data: [], has_more: false, next: null })
  })
  const refused = mock({
    listWorkItems: () => refuse(403, "FORBIDDEN", "not yours")
  })
  const error = yield* over(refused.fetch).pipe(
    Effect.flip,
    Effect.map((error) =>
      error._tag === "ControlRoomError" ? error.reason._tag : error._tag
    )
  )
  return {
    quiet: yield* over(empty.fetch),
    asked: empty.calls[0]?.query["state"],
    error
  }
})

/** Once against a room, which writes the file. */
export const withRecord = (file: string, options: Options) => {
  const { fetch, save } = record(file)
  return Effect.tap(over(fetch, options), () => Effect.sync(save))
}

/** From then on from the file. */
export const withReplay = Effect.fnUntraced(function* (
  file: string,
  { workspaceId }: Options
) {
  const { fetch, unused } = replay(file)
  const quiet = yield* over(fetch, { ...nowhere, workspaceId })
  return { quiet, unused: unused() }
})
