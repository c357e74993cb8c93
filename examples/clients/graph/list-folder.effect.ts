/** The files of a folder and how large they are, as its pages arrive. */
import * as Drive from "@signalbox/graph/Drive"
import * as Drives from "@signalbox/graph/Drives"
import * as Stream from "effect/Stream"

export const main = (folder: string) =>
  Drives.children(Drive.me, { path: folder }, { pageSize: 100 }).pipe(
    Stream.filter(({ file }) => file !== undefined),
    Stream.map(({ name, size }) => `${name} ${size}`),
    Stream.runCollect
  )
