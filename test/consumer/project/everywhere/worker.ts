/** For Workers: `workerd test` calls it. */
import { everything } from "./everything.ts"

export default {
  test: (_controller: unknown, { GIVEN }: { readonly GIVEN: string }) => everything(JSON.parse(GIVEN))
}
