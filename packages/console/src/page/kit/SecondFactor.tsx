/** A second factor that is set up: the key for the app, and the recovery codes. */
import { Copyable } from "./Copy.tsx"
import { TextField } from "./Field.tsx"
import { QrCode } from "./QrCode.tsx"
import * as text from "../text/text.ts"

export interface Enrolment {
  readonly secret: string
  readonly url: string
  readonly pending: string
}

export const CodeField = ({ code, onCode }: { readonly code: string; readonly onCode: (code: string) => void }) => (
  <TextField
    label={text.account.code}
    hint={text.account.codeHint}
    autocomplete="one-time-code"
    required
    value={code}
    onValue={onCode}
  />
)

/** The key for the app, and the field for the first code of it. */
export const EnrolmentFields = ({
  code,
  enrolment,
  onCode
}: {
  readonly enrolment: Enrolment
  readonly code: string
  readonly onCode: (code: string) => void
}) => (
  <>
    <p>{text.account.addHint}</p>
    <QrCode text={enrolment.url} label={text.account.qrCode} />
    <Copyable label={text.account.secret} text={enrolment.secret} />
    <p>
      <a href={enrolment.url}>{text.account.openApp}</a>
    </p>
    <CodeField code={code} onCode={onCode} />
  </>
)

export const RecoveryCodes = ({ codes }: { readonly codes: ReadonlyArray<string> }) => (
  <>
    <p>{text.account.recoveryHint}</p>
    <Copyable label={text.account.recoveryTitle} text={codes.join("\n")} />
  </>
)
