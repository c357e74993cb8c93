/** What a person does a thing with: a mouse, or nothing but the keyboard. */
import type { Locator, Page } from "playwright-core"

/** More than any screen has to tab through. */
const most = 150

export const hands = (page: Page, by: "mouse" | "keyboard") => {
  /** Tabs, or back, until it has the focus: what cannot be reached so cannot be used by those who have no mouse. */
  const reach = async (target: Locator) => {
    await target.waitFor()
    for (let pressed = 0; pressed < most; pressed++) {
      const key = await target.evaluate((element) => {
        const { activeElement } = element.ownerDocument
        if (activeElement === element) return null
        const isAfter =
          activeElement !== null &&
          (element.compareDocumentPosition(activeElement) & element.DOCUMENT_POSITION_FOLLOWING) !== 0
        return isAfter ? "Shift+Tab" : "Tab"
      })
      if (key === null) return
      await page.keyboard.press(key)
    }
    throw new Error(`${target} cannot be reached by Tab`)
  }
  if (by === "mouse") {
    return {
      press: (target: Locator) => target.click(),
      fill: (target: Locator, text: string) => target.fill(text),
      choose: (target: Locator, value: string) => target.selectOption(value).then(() => {})
    }
  }
  return {
    press: async (target: Locator) => {
      await reach(target)
      await page.keyboard.press("Enter")
    },
    fill: async (target: Locator, text: string) => {
      await reach(target)
      await page.keyboard.press("ControlOrMeta+a")
      await page.keyboard.insertText(text)
    },
    /** The arrow keys change a closed select of the browser. */
    choose: async (target: Locator, value: string) => {
      await reach(target)
      for (let pressed = 0; pressed < 20 && (await target.inputValue()) !== value; pressed++) {
        await page.keyboard.press("ArrowDown")
      }
    }
  }
}
