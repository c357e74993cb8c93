/** What the screens of one resource share: what is there before it is loaded, and how it is held and deleted. */
import type { ComponentProps } from "preact"
import { call } from "../../action.ts"
import { Button, Head, Problem } from "../../kit/Basics.tsx"
import { Confirm } from "../../kit/Dialog.tsx"
import { go, to } from "../../route.ts"
import * as text from "../../text/text.ts"

/** In the place of a resource that is not loaded, or cannot be. */
export const NotLoaded = ({ error, title }: { readonly title: string; readonly error: string | null }) => (
  <>
    <Head title={title} />
    <Problem message={error} />
  </>
)

/** Asks before a resource is deleted, and leads to the list that it was in. */
export const DeleteDialog = ({
  list,
  path,
  ...rest
}: Omit<ComponentProps<typeof Confirm>, "onSubmit"> & {
  readonly path: string
  readonly list: ReadonlyArray<string>
}) => (
  <Confirm
    {...rest}
    onSubmit={async () => {
      await call("DELETE", path)
      go(to(list))
    }}
  />
)

/** Pauses what is active, and resumes what is paused. */
export const PauseButton = ({
  isBusy,
  isPaused,
  onPause,
  onResume
}: {
  readonly isBusy: boolean
  readonly isPaused: boolean
  readonly onPause: () => void
  readonly onResume: () => void
}) =>
  isPaused ? (
    <Button kind="primary" disabled={isBusy} onClick={onResume}>
      {text.common.resume}
    </Button>
  ) : (
    <Button onClick={onPause}>{text.common.pause}</Button>
  )
