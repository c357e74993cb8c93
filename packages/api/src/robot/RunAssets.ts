/**
 * The assets of the workspace, with the token of a run.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"
import type { WorkspaceId } from "../contract/Ids.ts"
import * as Assets from "../Assets.ts"
import { ControlRoom } from "../ControlRoom.ts"
import * as Connection from "../internal/calls/Connection.ts"
import { type SizedBytes, Uploads } from "../Upload.ts"
import { type Endpoint, transportOf } from "../internal/calls/RobotEndpoint.ts"

/** `url` has the version prefix, such as `http://127.0.0.1:4700/api/v1`. */
export interface Options extends Endpoint {
  readonly workspaceId: WorkspaceId
}

/** Creates the client for the assets of one workspace. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const transport = transportOf(options, "", Connection.make(yield* HttpClient.HttpClient))
  const room = ControlRoom.of({
    baseUrl: transport.baseUrl,
    workspaceId: options.workspaceId,
    transport,
    uploads: yield* Uploads
  })
  return {
    /**
     * Emits the content as it arrives; nothing for an asset without content. Fails with `NotFound` when the asset does
     * not exist.
     */
    download: (name: string) => Stream.provideService(Assets.download(`name:${name}`), ControlRoom, room),
    /** Creates the asset if none has this name, and uploads its content. */
    put: (name: string, content: SizedBytes, contentType: string) =>
      Effect.asVoid(Assets.put(name, content, { contentType })).pipe(Effect.provideService(ControlRoom, room))
  }
})

/** The client that `make` creates. */
export type RunAssets = Effect.Success<ReturnType<typeof make>>
