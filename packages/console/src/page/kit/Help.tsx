/** What the keys do. */
import { letters, openDialog, table } from "../keys.ts"
import type { Screen } from "./Screen.ts"
import { Button } from "./Basics.tsx"
import { Dialog } from "./Dialog.tsx"
import * as text from "../text/text.ts"

const Keys = ({ keys }: { readonly keys: ReadonlyArray<string> }) => (
  <dt>
    {keys.map((key) => (
      <kbd key={key}>{key}</kbd>
    ))}
  </dt>
)

export const Help = ({ screens }: { readonly screens: ReadonlyArray<Screen> }) => {
  const close = () => (openDialog.value = null)
  return (
    <Dialog title={text.frame.shortcutsTitle} onClose={close}>
      <dl class="keys">
        {table.map(({ does, keys }) => (
          <div key={does}>
            <Keys keys={keys} />
            <dd>{does}</dd>
          </div>
        ))}
        {screens.map(({ path, title }) => {
          const letter = letters[path]
          return letter === undefined ? null : (
            <div key={path}>
              <Keys keys={["g", letter]} />
              <dd>{title}</dd>
            </div>
          )
        })}
      </dl>
      <div class="actions">
        <Button onClick={close}>{text.common.close}</Button>
      </div>
    </Dialog>
  )
}
