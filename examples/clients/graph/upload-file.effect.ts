/** Uploads a local file and says how far it is. */
import * as Drive from "@signalbox/graph/Drive"
import * as Files from "@signalbox/graph/Files"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"

export const main = (localPath: string, path: string) =>
  Files.upload(Drive.me, { path }, localPath, {
    onProgress: ({ sent, total }) =>
      Console.log(`${Math.floor((100 * sent) / total)} %`)
  }).pipe(Effect.map(({ size }) => size))
