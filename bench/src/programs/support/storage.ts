/** Where a benchmark of the service in its process stores. */
import type { StorageOptions } from "@signalbox/control-room/Options"
import * as Redacted from "effect/Redacted"

/** SQLite in the folder, or the Postgres at `url`. */
export const storageIn = (folder: string, url: string | null): StorageOptions =>
  url === null
    ? { data: folder }
    : {
        data: folder,
        database: { url: Redacted.make(url) },
        masterKey: Redacted.make(Buffer.alloc(32, 7).toString("base64"))
      }
