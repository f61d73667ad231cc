/** As much of a terminal as the program uses: it breaks what is too wide, scrolls, and knows where its cursor is. */

export interface Emulator {
  readonly write: (text: string) => void
  /** The rows that have something on them, what has scrolled away among them. */
  readonly rows: () => ReadonlyArray<string>
  /** Becomes another window, whose rows are broken anew. */
  readonly resize: (columns: number) => void
}

export const make = (columns: number, height: number): Emulator => {
  let width = columns
  // a row, and whether the next one goes on with it
  let rows: Array<{ text: string; goesOn: boolean }> = [{ text: "", goesOn: false }]
  let row = 0
  let column = 0
  const down = (goesOn: boolean) => {
    rows[row]!.goesOn = goesOn
    row++
    if (rows[row] === undefined) rows.push({ text: "", goesOn: false })
  }
  const put = (char: string) => {
    if (column >= width) {
      down(true)
      column = 0
    }
    const line = rows[row]!
    line.text = line.text.padEnd(column).slice(0, column) + char + line.text.slice(column + 1)
    column++
  }
  const control = (code: string, count: number) => {
    switch (code) {
      case "A":
        // what has scrolled away is out of reach
        row = Math.max(row - count, rows.length - height, 0)
        return
      case "J":
        rows = rows.slice(0, row + 1)
        rows[row]!.text = rows[row]!.text.slice(0, column)
        return
      case "K":
        rows[row]!.text = rows[row]!.text.slice(0, column)
        return
      case "m":
        return
      default:
        throw new Error(`the terminal does not know ${JSON.stringify(code)}`)
    }
  }
  return {
    write: (text) => {
      for (const [part, count, code] of text.matchAll(/\u001b\[(\d*)([A-Z]|m)|[^]/g)) {
        if (code !== undefined) control(code, Number(count === "" ? 1 : count))
        else if (part === "\n") {
          down(false)
          column = 0
        } else if (part === "\r") column = 0
        else put(part)
      }
    },
    rows: () => rows.map(({ text }) => text.trimEnd()).filter((text) => text !== ""),
    resize: (columns) => {
      const whole: Array<string> = [""]
      for (const { goesOn, text } of rows) {
        whole[whole.length - 1] += text
        if (!goesOn) whole.push("")
      }
      width = columns
      rows = whole.slice(0, -1).flatMap((text) => {
        const parts = Array.from(
          { length: Math.max(1, Math.ceil(text.length / width)) },
          (_, at) => text.slice(at * width, (at + 1) * width)
        )
        return parts.map((text, at) => ({ text, goesOn: at < parts.length - 1 }))
      })
      row = rows.length - 1
      column = 0
    }
  }
}
