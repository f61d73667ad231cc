/** @internal */

/**
 * Where an IP address leads: to anybody; to this machine; into somebody's own network; or to where no authorization server
 * is, in any network (the credentials of a cloud's machines, multicast, examples, tunnels into another family).
 *
 * @internal
 */
export type AddressKind = "public" | "loopback" | "private" | "special"

interface Block {
  /** The address in pieces of 16 bits. */
  readonly words: ReadonlyArray<number>
  readonly bits: number
  readonly kind: AddressKind
}

const words4 = (text: string): ReadonlyArray<number> => {
  const [a = 0, b = 0, c = 0, d = 0] = text.split(".").map(Number)
  return [a * 256 + b, c * 256 + d]
}

const words6 = (text: string): ReadonlyArray<number> => {
  const [head = [], tail] = text.split("::").map((half) =>
    half.split(":").filter(Boolean).map((word) => parseInt(word, 16))
  )
  return tail === undefined
    ? head
    : [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail]
}

const block = (kind: AddressKind) => (text: string): Block => {
  const [address = "", bits = ""] = text.split("/")
  return { words: address.includes(":") ? words6(address) : words4(address), bits: Number(bits), kind }
}

/** The first that an address is in counts. */
const blocks4: ReadonlyArray<Block> = [
  // what clouds keep at addresses that would else be anybody's, or a neighbour's
  ...["100.100.100.200/32", "168.63.129.16/32"].map(block("special")),
  ...["127.0.0.0/8"].map(block("loopback")),
  ...["10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15"].map(block("private")),
  ...[
    "0.0.0.0/8",
    "169.254.0.0/16",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3"
  ].map(block("special")),
  ...["0.0.0.0/0"].map(block("public"))
]

const blocks6: ReadonlyArray<Block> = [
  ...["::1/128"].map(block("loopback")),
  ...["fd00:42::42/128", "fd00:ec2::/32", "fd20:ce::254/128"].map(block("special")),
  ...["fc00::/7"].map(block("private")),
  ...["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"].map(block("special")),
  // the rest is not given to anybody yet, or is another family in disguise
  ...["2000::/3"].map(block("public")),
  ...["::/0"].map(block("special"))
]

const translated: Block = block("special")("64:ff9b::/96")

const isIn = (words: ReadonlyArray<number>) => (block: Block): boolean => {
  for (let at = 0, bits = block.bits; bits > 0; at++, bits -= 16) {
    const rest = Math.max(0, 16 - bits)
    if (words[at]! >> rest !== block.words[at]! >> rest) return false
  }
  return true
}

const kindIn = (blocks: ReadonlyArray<Block>, words: ReadonlyArray<number>): AddressKind =>
  blocks.find(isIn(words))?.kind ?? "special"

const kind6 = (words: ReadonlyArray<number>): AddressKind => {
  if (!isIn(words)(translated)) return kindIn(blocks6, words)
  // Networks without IPv4 write everybody's addresses like this. What is not everybody's is not theirs to translate.
  return kindIn(blocks4, words.slice(6)) === "public" ? "public" : "special"
}

/**
 * Of an address as the URL parser writes it: four decimal numbers, or an IPv6 address in brackets; `undefined` for a name.
 *
 * @internal
 */
export const ofHost = (host: string): AddressKind | undefined => {
  if (host.startsWith("[")) return kind6(words6(host.slice(1, -1)))
  return /^\d+\.\d+\.\d+\.\d+$/.test(host) ? kindIn(blocks4, words4(host)) : undefined
}

/**
 * Of an address as the system's lookup gives it; `undefined` if it is none, or one that means something in one link only.
 *
 * @internal
 */
export const ofAddress = (address: string): AddressKind | undefined => {
  if (!/^[\da-fx.:]+$/i.test(address)) return undefined
  const host = address.includes(":") ? `[${address}]` : address
  return URL.canParse(`http://${host}/`) ? ofHost(new URL(`http://${host}/`).hostname) : undefined
}
