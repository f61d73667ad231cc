import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as UrlGuard from "../../src/auth/UrlGuard.ts"
import { runs } from "../support/runs.ts"
import * as Texts from "../support/texts.ts"

const fetchFault = (url: string, rules?: UrlGuard.Rules) =>
  Either.match(UrlGuard.fetchable(url, rules), { onLeft: (fault) => fault, onRight: ({ href }) => href })

const openFault = (url: string) =>
  Either.match(UrlGuard.openable(url), { onLeft: (fault) => fault, onRight: ({ href }) => href })

const loopback: UrlGuard.Rules = { loopback: true, privateHosts: [] }

const privately = (...privateHosts: ReadonlyArray<string>): UrlGuard.Rules => ({ loopback: false, privateHosts })

/** Expectations from the corpus of URLs, by their ids there; url-006 is decided when its name is looked up. */
const fetched: ReadonlyArray<readonly [id: string, url: string, outcome: string]> = [
  ["url-001 loopback", "http://127.0.0.1/", "private-address"],
  ["url-002 short form", "http://127.1/", "private-address"],
  ["url-003 decimal", "http://2130706433/", "private-address"],
  ["url-004 hex", "http://0x7f000001/", "private-address"],
  ["url-005 octal", "http://0177.0.0.1/", "private-address"],
  ["url-006 name of loopback", "http://127.0.0.1.nip.io/", "not-https"],
  ["url-007 localhost", "http://localhost/", "private-name"],
  ["url-009 below localhost", "http://foo.localhost/", "private-name"],
  ["url-010 v6 loopback", "http://[::1]/", "private-address"],
  ["url-011 v4-mapped", "http://[::ffff:127.0.0.1]/", "private-address"],
  ["url-012 v4-mapped hex", "http://[::ffff:7f00:1]/", "private-address"],
  ["url-014 NAT64", "http://[64:ff9b::7f00:1]/", "private-address"],
  ["url-015 6to4", "http://[2002:7f00:1::]/", "private-address"],
  ["url-016 Teredo", "http://[2001:0:7f00:1::]/", "private-address"],
  ["url-017 unspecified v6", "http://[::]/", "private-address"],
  ["url-018 zero", "http://0/", "private-address"],
  ["url-019 unspecified", "http://0.0.0.0:6379/", "private-address"],
  ["url-020 RFC 1918", "http://10.0.0.1/", "private-address"],
  ["url-022 edge of RFC 1918", "http://172.31.255.255/", "private-address"],
  ["url-023 router", "http://192.168.1.1/admin", "private-address"],
  ["url-024 CGNAT", "http://100.64.0.1/", "private-address"],
  ["url-026 cloud metadata", "http://169.254.169.254/latest/meta-data/", "private-address"],
  ["url-027 task metadata", "http://169.254.170.2/v2/credentials", "private-address"],
  ["url-029 Oracle metadata", "http://192.0.0.192/", "private-address"],
  ["url-030 GCP metadata", "http://metadata.google.internal/computeMetadata/v1/", "private-name"],
  ["url-031 AWS v6 metadata", "http://[fd00:ec2::254]/", "private-address"],
  ["url-035 multicast", "http://224.0.0.1/", "private-address"],
  ["url-036 broadcast", "http://255.255.255.255/", "private-address"],
  ["url-038 documentation", "http://192.0.2.1/", "private-address"],
  ["url-040 multicast v6", "http://[ff02::1]/", "private-address"],
  ["url-041 ideographic full stop", "http://127\u30020\u30020\u30021/", "private-address"],
  ["url-042 circled digits", "http://\u2460\u2461\u2466.0.0.1/", "private-address"],
  ["url-043 cluster name", "http://kubernetes.default.svc/", "private-name"],
  ["url-046 single label", "http://router/", "private-name"],
  [
    "url-047 public",
    "https://auth.example.com/.well-known/oauth-authorization-server",
    "https://auth.example.com/.well-known/oauth-authorization-server"
  ],
  ["url-048 public v6", "https://[2606:4700:4700::1111]/", "https://[2606:4700:4700::1111]/"],
  ["url-050 IDN", "https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"],
  ["url-052 loopback without the rule", "http://127.0.0.1:3000/.well-known/x", "private-address"]
]

const long = `https://as.example/${"a".repeat(8000)}`

const opened: ReadonlyArray<readonly [id: string, url: string, outcome: string]> = [
  ["url-057", "JaVaScRiPt:alert(1)", "scheme"],
  ["url-059", " javascript:alert(1)", "characters"],
  ["url-060", "data:text/html,<script>1</script>", "scheme"],
  ["url-063", "file://attacker.example/share", "scheme"],
  ["url-066", "vscode://x.y/z", "scheme"],
  ["url-071", "tel:+15550100", "scheme"],
  ["url-072", "mailto:a@b.example", "scheme"],
  ["url-073", "about:blank", "scheme"],
  ["url-075", "view-source:https://a.example", "scheme"],
  ["url-076", "jar:https://a.example!/x", "scheme"],
  ["url-077", "chrome://settings", "scheme"],
  ["url-078", "intent://x#Intent;end", "scheme"],
  ["url-079", "unix:///var/run/docker.sock", "scheme"],
  ["url-080", "a:$(cmd.exe /c calc.exe)?response_type=code", "characters"],
  ["url-081", "-oProxyCommand=x", "malformed"],
  ["url-082", "--new-window https://a.example", "characters"],
  ["url-084", "//attacker.example/x", "malformed"],
  ["url-086", "http://remote.example/authorize", "not-https"],
  ["url-088", "https://as.example/authorize?a=$(calc.exe)", "https://as.example/authorize?a=%24%28calc.exe%29"],
  ["url-089", "https://as.example/authorize?a=%22;calc;%22", "https://as.example/authorize?a=%22;calc;%22"],
  ["url-090", "https://as.example/authorize?a=`id`", "https://as.example/authorize?a=%60id%60"],
  ["url-091", "https://as.example/authorize?a=%PATH%", "https://as.example/authorize?a=%25PATH%25"],
  ["url-092", "https://as.example/authorize?a='%2bcalc", "https://as.example/authorize?a=%27%2bcalc"],
  ["url-093", "https://as.example/authorize?a=^%26calc", "https://as.example/authorize?a=%5E%26calc"],
  ["url-094", long, "too-long"],
  ["url-095", "https://as.example/\u202egpj", "characters"],
  ["url-096", "https://user:pass@as.example/authorize", "userinfo"],
  ["url-097", "https://github.com@attacker.example/authorize", "userinfo"],
  ["url-099", "http://localhost:9000/authorize", "http://localhost:9000/authorize"]
]

const same: ReadonlyArray<readonly [id: string, url: string, identity: string]> = [
  ["url-100", "https://mcp.example/mcp", "https://mcp.example/mcp"],
  ["url-101 case and port", "HTTPS://MCP.Example:443/mcp", "https://mcp.example/mcp"],
  ["url-102 slash", "https://mcp.example/mcp/", "https://mcp.example/mcp/"],
  ["url-104 fragment", "https://mcp.example/mcp#frag", "https://mcp.example/mcp"],
  ["url-105 final dot", "https://mcp.example./mcp", "https://mcp.example/mcp"],
  ["url-106 backslash", "https://mcp.example\\@attacker.example/", "https://mcp.example/@attacker.example/"]
]

/** What IANA's registries, and clouds, keep for themselves; written down here without a look at the source. */
const reserved4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4"
]

const reserved6 = ["2001:0:0:0:0:0:0:0/23", "2001:db8:0:0:0:0:0:0/32", "2002:0:0:0:0:0:0:0/16", "3fff:0:0:0:0:0:0:0/20"]

const number4 = (text: string): bigint => text.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n)

const number6 = (text: string): bigint => text.split(":").reduce((sum, part) => sum * 65536n + BigInt(`0x${part}`), 0n)

const range = (cidr: string): readonly [first: bigint, last: bigint] => {
  const [text, bits] = cidr.split("/") as [string, string]
  const [size, from] = text.includes(":") ? [128, number6(text)] : [32, number4(text)]
  return [from, from + (1n << BigInt(size - Number(bits))) - 1n]
}

const isWithin = (number: bigint) => (cidr: string): boolean => {
  const [first, last] = range(cidr)
  return number >= first && number <= last
}

const isPublic4 = (number: bigint): boolean => !reserved4.some(isWithin(number))

const isPublic6 = (number: bigint): boolean =>
  number >> 32n === 0x64ff9bn << 64n
    ? isPublic4(number & 0xffffffffn)
    : number >> 125n === 1n && !reserved6.some(isWithin(number))

const edges = (cidrs: ReadonlyArray<string>, top: bigint) =>
  FastCheck.constantFrom(
    ...cidrs.flatMap((cidr) => {
      const [first, last] = range(cidr)
      return [first - 1n, first, last, last + 1n].filter((number) => number >= 0n && number <= top)
    })
  )

const inside = (cidr: string) => {
  const [min, max] = range(cidr)
  return FastCheck.bigInt({ min, max })
}

const top4 = (1n << 32n) - 1n
const top6 = (1n << 128n) - 1n

const any4 = FastCheck.oneof(
  FastCheck.bigInt({ min: 0n, max: top4 }),
  edges(reserved4, top4),
  ...reserved4.map(inside)
)

const any6 = FastCheck.oneof(
  FastCheck.bigInt({ min: 0n, max: top6 }),
  edges([...reserved6, "fc00:0:0:0:0:0:0:0/7", "2000:0:0:0:0:0:0:0/3", "64:ff9b:0:0:0:0:0:0/96"], top6),
  inside("2000:0:0:0:0:0:0:0/3"),
  ...["0:0:0:0:0:0:0:0/96", "0:0:0:0:0:ffff:0:0/96", "64:ff9b:0:0:0:0:0:0/96"].flatMap((cidr) => [
    inside(cidr),
    // every family in disguise over each kind of address of the other
    any4.map((number) => range(cidr)[0] + number)
  ]),
  ...reserved6.map(inside)
)

const octets = (number: bigint): ReadonlyArray<number> =>
  [24n, 16n, 8n, 0n].map((shift) => Number((number >> shift) & 255n))

const dotted = (number: bigint): string => octets(number).join(".")

const groups = (number: bigint): ReadonlyArray<string> =>
  Array.from({ length: 8 }, (_, at) => ((number >> BigInt(112 - 16 * at)) & 65535n).toString(16))

const radices: ReadonlyArray<(number: bigint | number) => string> = [
  (number) => number.toString(),
  (number) => `0x${number.toString(16)}`,
  (number) => `0X${number.toString(16).toUpperCase()}`,
  (number) => `0x000${number.toString(16)}`,
  (number) => `0${number.toString(8)}`
]

/** An IPv4 address in any of the ways that a URL parser understands. */
const spelled4 = FastCheck.tuple(
  any4,
  FastCheck.integer({ min: 1, max: 4 }),
  FastCheck.array(FastCheck.constantFrom(...radices), { minLength: 4, maxLength: 4 }),
  FastCheck.constantFrom("", ".")
).map(([number, parts, radix, dot]) => {
  const head = octets(number).slice(0, parts - 1)
  const tail = number & ((1n << BigInt(8 * (5 - parts))) - 1n)
  return { number, host: [...head, tail].map((part, at) => radix[at]!(part)).join(".") + dot }
})

const spelled6 = FastCheck.tuple(any6, FastCheck.integer({ min: 0, max: 3 })).map(([number, way]) => {
  const all = groups(number)
  const address = [
    () => all.join(":"),
    () => all.map((group) => group.padStart(4, "0").toUpperCase()).join(":"),
    () => new URL(`http://[${all.join(":")}]/`).hostname.slice(1, -1),
    () => `${all.slice(0, 6).join(":")}:${dotted(number & 0xffffffffn)}`
  ][way]!()
  return { number, address }
})

const anyUrl = FastCheck.oneof(
  FastCheck.string(),
  FastCheck.string({ unit: Texts.unit }),
  FastCheck.webUrl({ withFragments: true, withQueryParameters: true }),
  FastCheck.tuple(
    FastCheck.constantFrom("https://", "http://", "HTTPS:", "https:\\\\", "ftp://", "https://u@"),
    FastCheck.constantFrom("as.example", "localhost", "127.1", "[::1]", "a.local", "a..b", "8.8.8.8", "x:1"),
    FastCheck.constantFrom("/", "?", "#", "\\", ""),
    FastCheck.string({ unit: "grapheme-ascii" })
  ).map((parts) => parts.join(""))
)

describe("what may be fetched because a server said so", () => {
  for (const [id, url, outcome] of fetched) {
    it(`${id}: ${outcome}`, () => {
      assert.strictEqual(fetchFault(url), outcome)
    })
  }

  it("is as little when it is asked for by https, and when this machine may be reached without", () => {
    for (const [id, url, outcome] of fetched.filter(([, , outcome]) => outcome.startsWith("private-"))) {
      assert.strictEqual(fetchFault(url.replace("http:", "https:")), outcome, id)
      const isOfThisMachine = /^url-(00[1-9]|010|041|042|052)/.test(id)
      assert.strictEqual(fetchFault(url, loopback) === outcome, !isOfThisMachine, id)
    }
  })

  it("is this machine without TLS, if a server on it is configured (url-052)", () => {
    for (const url of ["http://127.0.0.1:3000/x", "http://localhost:3000/x", "http://[::1]:3000/x"]) {
      assert.strictEqual(fetchFault(url, loopback), url)
    }
    assert.strictEqual(fetchFault("http://as.example/", loopback), "not-https")
    assert.strictEqual(fetchFault("http://10.0.0.1/", loopback), "private-address")
  })

  it("is each spelling of an address or none", () => {
    FastCheck.assert(
      FastCheck.property(spelled4, ({ host, number }) => {
        assert.strictEqual(
          fetchFault(`https://${host}/`),
          isPublic4(number) ? `https://${dotted(number)}/` : "private-address"
        )
      }),
      { numRuns: runs(2000) }
    )
    FastCheck.assert(
      FastCheck.property(spelled6, ({ address, number }) => {
        assert.strictEqual(Either.isRight(UrlGuard.fetchable(`https://[${address}]/`)), isPublic6(number))
      }),
      { numRuns: runs(2000) }
    )
  })

  it("is no private name, whatever its case and its final dot", () => {
    const names = [
      "a.local",
      "nas.lan",
      "x.home.arpa",
      "as.corp",
      "db.intranet",
      "a.svc.cluster.local",
      "metadata.goog"
    ]
    for (const name of names) {
      for (const written of [name, name.toUpperCase(), `${name}.`]) {
        assert.strictEqual(fetchFault(`https://${written}/`), "private-name", written)
      }
    }
    for (const name of ["local.example", "mylocal.example", "corp.example.com", "metadata.goog.example"]) {
      assert.strictEqual(fetchFault(`https://${name}/`), `https://${name}/`)
    }
  })

  it("is a private host that a person has named, by https only", () => {
    for (
      const [named, url] of [
        ["auth.corp", "https://auth.corp/"],
        ["AUTH.Corp.", "https://auth.corp/"],
        ["*.corp", "https://a.b.corp/"],
        ["*.b\u00fccher.lan", "https://as.xn--bcher-kva.lan/"],
        ["10.0.0.5", "https://10.0.0.5/"],
        ["fd12::5", "https://[fd12::5]/"],
        ["[FD12:0::5]", "https://[fd12::5]/"],
        ["localhost", "https://localhost/"]
      ] as const
    ) {
      assert.strictEqual(fetchFault(url, privately(named)), url)
      assert.strictEqual(fetchFault(url.replace("https:", "http:"), privately(named)), "not-https")
    }
    for (
      const [named, url] of [
        ["auth.corp", "https://x.auth.corp/"],
        ["*.corp", "https://corp/"],
        ["*.corp", "https://acorp/"],
        ["*", "https://a.corp/"],
        ["10.0.0.5", "https://10.0.0.6/"],
        ["", "https://router/"]
      ] as const
    ) {
      assert.match(fetchFault(url, privately(named)), /^private-/)
    }
  })

  it("is never where clouds keep their credentials, whoever has named it", () => {
    for (const host of ["169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "168.63.129.16", "0.0.0.0"]) {
      assert.strictEqual(fetchFault(`https://${host}/`, privately(host)), "private-address")
    }
  })

  it("has no credentials, no blanks and no empty name in it", () => {
    assert.strictEqual(fetchFault("https://a:b@as.example/"), "userinfo")
    assert.strictEqual(fetchFault("https://:b@as.example/"), "userinfo")
    assert.strictEqual(fetchFault("https://as.example/\n.well-known"), "characters")
    assert.strictEqual(fetchFault("https://as.\u00adexample/"), "characters")
    assert.strictEqual(fetchFault("https://as..example/"), "malformed")
    assert.strictEqual(fetchFault("https://./"), "malformed")
    assert.strictEqual(fetchFault("https://$(id).as.example/"), "malformed")
    assert.strictEqual(fetchFault("file:///etc/passwd"), "scheme")
    assert.strictEqual(fetchFault("https://as.example./x"), "https://as.example/x")
    assert.strictEqual(fetchFault(long), "too-long")
    assert.strictEqual(fetchFault(`https://as.example/${"\u00e9".repeat(3000)}`), "too-long")
  })

  it("is, of all texts, none that leads elsewhere than its host says", () => {
    FastCheck.assert(
      FastCheck.property(anyUrl, (text) => {
        const verdict = UrlGuard.fetchable(text)
        if (Either.isLeft(verdict)) return
        const { href, hostname, password, protocol, username } = verdict.right
        assert.deepStrictEqual([protocol, username, password], ["https:", "", ""])
        assert.match(hostname, /\./)
        assert.notMatch(hostname, /^127\.\d+\.\d+\.\d+$|\.(localhost|local)$|\.$/)
        assert.strictEqual(fetchFault(href), href)
      }),
      { numRuns: runs(2000) }
    )
  })
})

const isPublic = (address: string): boolean => UrlGuard.dialable("as.example", address)

describe("what may be dialled", () => {
  it("is what anybody can reach", () => {
    FastCheck.assert(
      FastCheck.property(any4, (number) => {
        assert.strictEqual(isPublic(dotted(number)), isPublic4(number))
      }),
      { numRuns: runs(2000) }
    )
    FastCheck.assert(
      FastCheck.property(spelled6, ({ address, number }) => {
        assert.strictEqual(isPublic(address), isPublic6(number))
      }),
      { numRuns: runs(2000) }
    )
  })

  it("is no address of a link, and nothing that is no address", () => {
    for (
      const text of [
        "fe80::1%eth0",
        "fe80::1",
        "",
        "as.example",
        "8.8.8.8/",
        "8.8.8.8:80",
        "1.2.3.4.5",
        "::g",
        "8.8.8.8 "
      ]
    ) {
      assert.isFalse(isPublic(text), text)
    }
  })

  it("is not this machine for a public name, also where this machine may be reached", () => {
    assert.isFalse(UrlGuard.dialable("127.0.0.1.nip.io", "127.0.0.1", loopback))
    assert.isTrue(UrlGuard.dialable("localhost", "127.0.0.1", loopback))
    assert.isFalse(UrlGuard.dialable("localhost", "127.0.0.1"))
  })

  it("is nothing but this machine for its name", () => {
    assert.isFalse(UrlGuard.dialable("localhost", "8.8.8.8", loopback))
    assert.isFalse(UrlGuard.dialable("x.localhost.", "10.0.0.1", loopback))
  })

  it("is private for the hosts that a person has named", () => {
    assert.isTrue(UrlGuard.dialable("as.corp.example", "10.0.0.1", privately("*.corp.example")))
    assert.isTrue(UrlGuard.dialable("as.corp.example", "8.8.8.8", privately("*.corp.example")))
    assert.isFalse(UrlGuard.dialable("as.example", "10.0.0.1", privately("*.corp.example")))
    assert.isFalse(UrlGuard.dialable("as.corp.example", "169.254.169.254", privately("*.corp.example")))
  })
})

describe("what may be shown in a browser", () => {
  for (const [id, url, outcome] of opened) {
    it(`${id}: ${outcome}`, () => {
      assert.strictEqual(openFault(url), outcome)
    })
  }

  it("has nothing that hides in it", () => {
    for (
      const char of [
        "\n",
        "\t",
        "\u0000",
        "\u200b",
        "\u2066",
        "\u{e0041}",
        "\ufe0f",
        "\u3164",
        "\u2800",
        "\ud800",
        "\u00a0"
      ]
    ) {
      assert.strictEqual(openFault(`https://as.example/a${char}b`), "characters", JSON.stringify(char))
    }
  })

  it("is no host with a command in its name", () => {
    for (
      const host of ["$(id).example", "`id`.example", "a;b.example", "a&b.example", "'a.example", "a(b).localhost"]
    ) {
      assert.strictEqual(openFault(`https://${host}/`), "malformed", host)
    }
  })

  it("may be long, but not too long once it is written out", () => {
    assert.strictEqual(openFault(`https://as.example/?${"$".repeat(3000)}`), "too-long")
    assert.match(openFault(`https://as.example/?${"$".repeat(2000)}`), /^https/)
  })

  it("is, of all texts, one of two schemes and nothing for a shell", () => {
    FastCheck.assert(
      FastCheck.property(anyUrl, (text) => {
        const verdict = UrlGuard.openable(text)
        if (Either.isLeft(verdict)) return
        const { href, password, username } = verdict.right
        assert.match(href, /^https:\/\/|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]/)
        assert.notMatch(href, /[$`()'"<>{}|^\\\s]|%(?![\da-f]{2})/i)
        assert.deepStrictEqual([username, password], ["", ""])
        assert.strictEqual(openFault(href), href)
      }),
      { numRuns: runs(2000) }
    )
  })
})

describe("the identity of a server", () => {
  for (const [id, url, identity] of same) {
    it(`${id}: ${identity}`, () => {
      assert.strictEqual(UrlGuard.identity(url), identity)
    })
  }

  it("knows ports, queries and paths apart, and no credentials", () => {
    const apart = ["https://a.example/m", "https://a.example:8443/m", "https://a.example/m?t=1", "http://a.example/m"]
    assert.strictEqual(new Set(apart.map(UrlGuard.identity)).size, apart.length)
    assert.strictEqual(UrlGuard.identity("https://u:secret@a.example/m"), "https://a.example/m")
    assert.strictEqual(UrlGuard.identity("http://[::1]:80/m?"), "http://[::1]/m")
    assert.strictEqual(UrlGuard.identity("no url"), "no url")
  })

  it("is its own identity, and that of each other way of writing it", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.webUrl({ withQueryParameters: true }), (url) => {
        const { hash, host, href } = new URL(url)
        const other = href.slice(0, href.length - hash.length).replace(host, host.toUpperCase())
        assert.strictEqual(UrlGuard.identity(`${other}#x`), UrlGuard.identity(url))
        assert.strictEqual(UrlGuard.identity(UrlGuard.identity(url)), UrlGuard.identity(url))
      })
    )
  })
})
