// A terminal's screen as an SVG image: pure functions over text with the escape sequences for colours (SGR).

/** The sixteen colours, on the background of the image. */
const palette = [
  "#484f58", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#c9d1d9",
  "#8b949e", "#ffa198", "#aff5b4", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#ffffff"
]
const foreground = "#e6edf3"
const background = "#0d1117"
const weak = "#9198a1"

const plain = { bold: false, dim: false, italic: false, underline: false, inverse: false, color: null, fill: null }

const hex = (numbers) => `#${numbers.map((one) => Math.min(255, one).toString(16).padStart(2, "0")).join("")}`

/** A colour of the 256: the sixteen, a cube of 6 × 6 × 6, and greys. */
const indexed = (index) => {
  if (index < 16) return palette[index]
  if (index >= 232) return hex(Array(3).fill(8 + (index - 232) * 10))
  const level = (step) => step === 0 ? 0 : 55 + step * 40
  const cube = index - 16
  return hex([level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)])
}

/** What follows 38 or 48: `5;n` or `2;r;g;b`, which are taken off the list. */
const extended = (codes) => {
  const kind = codes.shift()
  if (kind === 5) return indexed(codes.shift() ?? 0) ?? null
  return kind === 2 ? hex(codes.splice(0, 3)) : null
}

/** The style after a sequence of codes; a code that means nothing here changes nothing. */
const styled = (before, text) => {
  let style = before
  const codes = text === "" ? [0] : text.split(/[;:]/).map(Number)
  while (codes.length > 0) {
    const code = codes.shift()
    const off = { 22: { bold: false, dim: false }, 23: { italic: false }, 24: { underline: false }, 27: { inverse: false } }
    const on = { 1: { bold: true }, 2: { dim: true }, 3: { italic: true }, 4: { underline: true }, 7: { inverse: true } }
    if (code === 0) style = plain
    else if (code in on) style = { ...style, ...on[code] }
    else if (code in off) style = { ...style, ...off[code] }
    else if (code >= 30 && code <= 37) style = { ...style, color: palette[code - 30] }
    else if (code >= 90 && code <= 97) style = { ...style, color: palette[code - 82] }
    else if (code >= 40 && code <= 47) style = { ...style, fill: palette[code - 40] }
    else if (code >= 100 && code <= 107) style = { ...style, fill: palette[code - 92] }
    else if (code === 38) style = { ...style, color: extended(codes) }
    else if (code === 48) style = { ...style, fill: extended(codes) }
    else if (code === 39) style = { ...style, color: null }
    else if (code === 49) style = { ...style, fill: null }
  }
  return style
}

/** In this order: colours, other orders to a terminal, titles and links, and single control characters. */
const sequence = new RegExp(
  [
    "\\u001b\\[([\\d;:]*)m",
    "\\u001b\\[[\\d;:?]*[A-Za-ln-z]",
    "\\u001b\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)",
    "\\u001b[()][0-9A-B]",
    "[\\u0000-\\u0009\\u000b-\\u001f\\u007f]"
  ].join("|"),
  "g"
)

/**
 * The rows of a screen, each in pieces of one style. Sequences other than colours mean nothing on a screen that was
 * already drawn, and are left out; so are empty rows at the end.
 */
export const rows = (screen) => {
  let style = plain
  const all = screen.split("\n").map((line) => {
    const pieces = []
    const add = (text) => {
      if (text !== "") pieces.push({ text, style })
    }
    let from = 0
    for (const found of line.matchAll(sequence)) {
      add(line.slice(from, found.index))
      if (found[1] !== undefined) style = styled(style, found[1])
      from = found.index + found[0].length
    }
    add(line.slice(from))
    return pieces
  })
  const isEmpty = (pieces) =>
    pieces.every(({ style, text }) => text.trim() === "" && style.fill === null && !style.inverse)
  while (all.length > 0 && isEmpty(all.at(-1))) all.pop()
  return all
}

const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;" }

const escaped = (text) => text.replaceAll(/[&<>"]/g, (char) => entities[char])

const cell = { width: 8.4, height: 18, base: 13 }
const margin = 16
const bar = 34

const size = (text) => [...text].length

const number = (value) => String(Math.round(value * 100) / 100)

/** The words of a piece with their columns, so that the viewer does not have to preserve spaces. */
const words = (text) => Array.from(text.matchAll(/\S+(?: \S+)*/g), (found) => [found[0], size(text.slice(0, found.index))])

const drawn = ({ style, text }, x, y) => {
  const { bold, dim, inverse, italic, underline } = style
  const color = (inverse ? style.fill ?? background : style.color) ?? foreground
  const fill = inverse ? style.color ?? foreground : style.fill
  const look = [
    `fill="${dim && style.color === null && !inverse ? weak : color}"`,
    ...bold ? ["font-weight=\"bold\""] : [],
    ...italic ? ["font-style=\"italic\""] : [],
    ...underline ? ["text-decoration=\"underline\""] : []
  ].join(" ")
  const rect = `y="${y - cell.base}" width="${number(size(text) * cell.width)}" height="${cell.height}" fill="${fill}"`
  return [
    ...fill === null ? [] : [`<rect x="${number(x)}" ${rect}/>`],
    ...words(text).map(([word, column]) => {
      // a fixed width keeps columns aligned in any font
      const width = `textLength="${number(size(word) * cell.width)}" lengthAdjust="spacingAndGlyphs"`
      return `<text x="${number(x + column * cell.width)}" y="${y}" ${width} ${look}>${escaped(word)}</text>`
    })
  ]
}

/** The image of a screen: the width of the terminal, the height of its content, and the command above. */
export const render = (screen, { columns, command }) => {
  const lines = rows(screen)
  const width = columns * cell.width + 2 * margin
  const height = bar + lines.length * cell.height + margin
  const body = lines.flatMap((pieces, row) => {
    let column = 0
    return pieces.flatMap((piece) => {
      const x = margin + column * cell.width
      column += size(piece.text)
      return drawn(piece, x, bar + row * cell.height + cell.base)
    })
  })
  const heading = { text: `$ ${command}`, style: { ...plain, dim: true } }
  const plainText = lines.map((pieces) => pieces.map(({ text }) => text).join("").trimEnd()).join("\n")
  const attributes = [
    `viewBox="0 0 ${number(width)} ${height}" width="${number(width)}" height="${height}" role="img" font-size="14"`,
    "font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\""
  ]
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" ${attributes.join(" ")}>`,
    `<title>${escaped(command)}</title>`,
    `<desc>${escaped(plainText)}</desc>`,
    `<rect width="${number(width)}" height="${height}" rx="8" fill="${background}"/>`,
    ...drawn(heading, margin, 22),
    ...body,
    "</svg>"
  ].join("\n")}\n`
}
