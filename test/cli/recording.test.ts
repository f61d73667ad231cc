import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { render, rows } from "../../scripts/svg.mjs"
import { root } from "../package/project.ts"

const plain = {
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  color: null,
  fill: null
}

const green = "#7ee787"
const red = "#ff7b72"

describe("the screen of a terminal", () => {
  const read: ReadonlyArray<readonly [screen: string, pieces: ReadonlyArray<readonly [text: string, style: object]>]> =
    [
      ["plain", [["plain", {}]]],
      ["\u001b[32mgood\u001b[0m so", [["good", { color: green }], [" so", {}]]],
      ["\u001b[1;31mbad\u001b[22m less\u001b[39m", [["bad", { bold: true, color: red }], [" less", { color: red }]]],
      ["\u001b[2mweak\u001b[mplain", [["weak", { dim: true }], ["plain", {}]]],
      ["\u001b[3;4;7ma\u001b[23;24;27mb", [["a", { italic: true, underline: true, inverse: true }], ["b", {}]]],
      ["\u001b[92;41ma", [["a", { color: "#aff5b4", fill: red }]]],
      ["\u001b[38;5;2ma\u001b[38;5;196mb\u001b[38;5;232mc", [
        ["a", { color: green }],
        ["b", { color: "#ff0000" }],
        ["c", { color: "#080808" }]
      ]],
      ["\u001b[38;2;1;2;300;1ma", [["a", { color: "#0102ff", bold: true }]]],
      ["\u001b[48:5:1ma\u001b[49mb", [["a", { fill: red }], ["b", {}]]],
      // what moves the cursor, clears, names the window or changes the alphabet has been done when the screen is taken
      ["a\u001b[2J\u001b[?25lb\u001b]0;title\u0007c\u001b(Bd\r", [["a", {}], ["b", {}], ["c", {}], ["d", {}]]]
    ]
  for (const [screen, pieces] of read) {
    it(`is read from ${JSON.stringify(screen)}`, () => {
      assert.deepStrictEqual(rows(screen), [pieces.map(([text, style]) => ({ text, style: { ...plain, ...style } }))])
    })
  }

  it("keeps its colours from one row to the next, and ends where nothing follows", () => {
    assert.deepStrictEqual(rows("\u001b[32ma\nb\u001b[0m\n\n  \n"), [
      [{ text: "a", style: { ...plain, color: green } }],
      [{ text: "b", style: { ...plain, color: green } }]
    ])
  })
})

describe("its image", () => {
  const image = (screen: string) => render(screen, { columns: 20, command: "mcp-runtime list" })

  /** The texts of an image, each with where it is. */
  const texts = (svg: string) =>
    Array.from(svg.matchAll(/<text x="([\d.]+)" y="(\d+)" textLength="([\d.]+)"[^>]*>([^<]*)<\/text>/g), (found) =>
      [
        found[4],
        (Number(found[1]) - 16) / 8.4,
        Number(found[3]) / 8.4
      ].map((one) => typeof one === "number" ? Math.round(one * 10) / 10 : one))

  it("has each word in its column and as wide as its characters, below the command", () => {
    assert.deepStrictEqual(texts(image("  a b   \u001b[32m▃█ x\u001b[0m\n\nsecond")), [
      ["$ mcp-runtime list", 0, 18],
      ["a b", 2, 3],
      ["▃█ x", 8, 4],
      ["second", 0, 6]
    ])
  })

  it("shows nothing of a text as what it is made of", () => {
    const svg = render("<script>&\"\u001b[7m<b>\u001b[0m", { columns: 20, command: "a <b>" })
    assert.notMatch(svg, /<script|<b>|&"/)
    assert.include(svg, "&lt;script&gt;&amp;&quot;")
    assert.include(svg, "<title>a &lt;b&gt;</title>")
  })

  it("says in words what it shows, and is as high as that", () => {
    assert.include(image("\u001b[31mbad\u001b[0m  \nnext"), "<desc>bad\nnext</desc>")
    const height = (svg: string) => Number(/height="(\d+)" role/.exec(svg)?.[1])
    assert.strictEqual(height(image("a\nb\nc")) - height(image("a")), 36)
  })

  it("fills what is inverse with the colour of its letters", () => {
    assert.match(image("\u001b[7;32mab"), /<rect x="16" y="34" width="16.8" height="18" fill="#7ee787"\/>/)
    assert.match(image("\u001b[7;32mab"), /<text [^>]*fill="#0d1117"[^>]*>ab</)
  })
})

describe("the images of the README", () => {
  for (const [name, words] of [["status", "SERVER"], ["doctor", " failed"]] as const) {
    it(`have ${name}, taken by \`npm run record\``, () => {
      const file = new URL(`docs/assets/${name}.svg`, root)
      assert.isTrue(existsSync(file))
      const svg = readFileSync(file, "utf8")
      assert.match(svg, new RegExp(`<title>mcp-runtime ${name}\\b.*</title>`))
      assert.include(svg, words)
      // nothing of the machine that they were taken on
      assert.notMatch(svg, /\/root|\/home|\/tmp|\/Users/)
    })
  }
})
