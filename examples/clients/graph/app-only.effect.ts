/** An app that acts as itself, by a certificate: what is in the drive of a person. */
import * as Credentials from "@signalbox/graph/Credentials"
import * as Drive from "@signalbox/graph/Drive"
import * as Drives from "@signalbox/graph/Drives"
import { layerTokens } from "@signalbox/graph/node"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

export const main = (
  user: string,
  app: Credentials.App & Credentials.Certificate
) =>
  Drives.children(Drive.of({ user }), Drive.root).pipe(
    Stream.map(({ name }) => name ?? ""),
    Stream.runCollect,
    Effect.provide(layerTokens(Credentials.layerCertificate(app), app))
  )
