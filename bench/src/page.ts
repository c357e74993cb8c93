/** docs/performance.md and its pictures are those of `bench/results`. With `--write`, writes them. Needs no peers. */
import * as Page from "./harness/Page.ts"

if (process.argv.includes("--write")) Page.write()
else {
  const stale = Page.stale()
  if (stale.length > 0) {
    throw new Error(`${stale.join(", ")}: not what bench/results says; run \`node bench/src/page.ts --write\``)
  }
}
