/** Tests of a program that uses a room, without one: by functions in its place, and by calls that were recorded. */
import { mock, refuse } from "@signalbox/api/mock"
import { connect, type Client, type Options } from "@signalbox/api/promise"
import { record, replay } from "@signalbox/api/recording"

/** The program: whether anything waits for somebody. */
const isQuiet = async (room: Client) =>
  (await room.workItems.list({ state: "failed", limit: 1 })).data.length === 0

const nowhere: Options = {
  baseUrl: "http://room.example",
  apiKey: "any",
  workspaceId: "any"
}

/** Without a room at all. */
export const withMock = async () => {
  const empty = mock({
    listWorkItems: () => ({ data: [], has_more: false, next: null })
  })
  const refused = mock({
    listWorkItems: () => refuse(403, "FORBIDDEN", "not yours")
  })
  await using room = connect({ ...nowhere, fetch: empty.fetch })
  await using other = connect({ ...nowhere, fetch: refused.fetch })
  const error = await isQuiet(other).catch((error: Error) => error.name)
  return {
    quiet: await isQuiet(room),
    asked: empty.calls[0]?.query["state"],
    error
  }
}

/** Once against a room, which writes the file. */
export const withRecord = async (file: string, options: Options) => {
  const { fetch, save } = record(file)
  await using room = connect({ ...options, fetch })
  const quiet = await isQuiet(room)
  save()
  return quiet
}

/** From then on from the file. */
export const withReplay = async (file: string, options: Options) => {
  const { fetch, unused } = replay(file)
  await using room = connect({
    ...nowhere,
    workspaceId: options.workspaceId,
    fetch
  })
  return { quiet: await isQuiet(room), unused: unused() }
}
