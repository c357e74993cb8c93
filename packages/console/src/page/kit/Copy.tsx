/** Text to paste elsewhere. */
import { useRef, useState } from "preact/hooks"
import { Button } from "./Basics.tsx"
import * as text from "../text/text.ts"

const select = (element: HTMLElement | null) => {
  const selection = getSelection()
  if (element === null || selection === null) return
  selection.removeAllRanges()
  const range = document.createRange()
  range.selectNodeContents(element)
  selection.addRange(range)
}

/** The text, and a button that copies it. `label` names it for those who do not see it, such as `Command`. */
export const Copyable = ({ text: content, label }: { readonly text: string; readonly label: string }) => {
  const element = useRef<HTMLPreElement>(null)
  const [said, setSaid] = useState("")
  const copy = async () => {
    select(element.current)
    // Pages over plain HTTP have no clipboard, but may copy what is selected.
    const isCopied = isSecureContext
      ? await navigator.clipboard.writeText(content).then(
          () => true,
          () => document.execCommand("copy")
        )
      : document.execCommand("copy")
    setSaid(isCopied ? text.kit.copied : text.kit.selected)
    setTimeout(() => setSaid(""), 3000)
  }
  return (
    <div class="copyable">
      <pre ref={element} tabIndex={0} role="region" aria-label={label}>
        {content}
      </pre>
      <Button aria-label={text.kit.copyLabel(label)} onClick={() => void copy()}>
        {said === "" ? text.kit.copy : said}
      </Button>
      <span class="hidden" role="status">
        {said}
      </span>
    </div>
  )
}
