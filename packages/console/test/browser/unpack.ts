/**
 * Unpacks the Chromium of the development dependencies into the temporary folder, which `Chromium.ts` sets to a private one: the
 * package itself would use the one that all users of the machine share.
 */
import { inflate } from "@sparticuz/chromium"
import { fileURLToPath } from "node:url"

const archives = new URL("../bin/", import.meta.resolve("@sparticuz/chromium"))
await Promise.all(
  ["chromium.br", "fonts.tar.br", "swiftshader.tar.br", "al2023.tar.br"].map((name) =>
    inflate(fileURLToPath(new URL(name, archives)))
  )
)
