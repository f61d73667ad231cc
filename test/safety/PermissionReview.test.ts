/** What a security engineer expects of rules, in the spirit of the corpus of permissions: other spellings, other paths. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as PermissionRule from "../../src/safety/PermissionRule.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import { lengths } from "../support/runs.ts"

type Decision = PermissionRule.Decision

const rules = (decision: Decision, ...texts: ReadonlyArray<string>): ReadonlyArray<PermissionRule.Input> =>
  texts.map((tool) => ({ decision, tool, source: "user" }))

/** What a model gets from one rule. */
const by = (
  decision: Decision,
  text: string | PermissionRule.Input,
  subject: Partial<PermissionRule.Subject>
): Decision =>
  PermissionRule.compile(typeof text === "string" ? rules(decision, text) : [text]).decide({
    kind: "tool",
    server: "fs",
    name: "read",
    ...subject
  })?.decision ?? (decision === "deny" ? "allow" : "ask")

const args = (value: unknown): JsonRpc.JsonObject => ({ path: value as JsonRpc.Json })

const shown = (value: unknown): string => JSON.stringify(value).slice(0, 200)

interface Case {
  readonly rule: string
  readonly through?: ReadonlyArray<unknown>
  readonly back?: ReadonlyArray<unknown>
}

describe("an allow for a path lets through", () => {
  const cases: Readonly<Record<string, Case>> = {
    "rev-001 a folder of Windows": {
      rule: "fs/read(path=C:\\repo\\**)",
      through: ["C:\\repo\\a.ts", "C:\\repo\\a\\b.ts"],
      back: [
        "C:\\repo\\..\\Windows\\win.ini",
        "C:\\repo\\..\\..\\x",
        "C:\\repo\\.. \\x",
        "C:/repo/../x",
        "C:\\repo",
        "C:\\repox\\a",
        "\\\\host\\C:\\repo\\a",
        "C:\\repo\\a/../../x"
      ]
    },
    "rev-002 one part of Windows' paths": {
      rule: "fs/read(path=C:\\repo\\*.md)",
      through: ["C:\\repo\\a.md"],
      back: ["C:\\repo\\sub\\a.md", "C:\\repo\\..\\a.md"]
    },
    "rev-003 files by their ending, in no other folder": {
      rule: "fs/read(path=*.md)",
      through: ["a.md", "a b.md"],
      back: ["/etc/a.md", "../a.md", "..\\a.md", "a/b.md", "%2e%2e%2fa.md", "a\n.md"]
    },
    "rev-004 files by their beginning, and no way out of it": {
      rule: "fs/read(path=notes*)",
      through: ["notes", "notes.txt"],
      back: ["notes/../../etc/passwd", "notes/..", "notes\\..\\x"]
    },
    "rev-005 a glob in the middle": {
      rule: "fs/read(path=/repo/**/docs/*.md)",
      through: ["/repo/a/docs/x.md", "/repo/a/b/docs/x.md"],
      back: ["/repo/a/docs/b/x.md", "/repo/a/docsx/x.md", "/repo/a/docs/../x.md", "/other/docs/x.md"]
    },
    "rev-006 parts of dots and spaces": {
      rule: "fs/read(path=/repo/**)",
      through: ["/repo/.git/config", "/repo/a..b"],
      back: ["/repo/.. /etc", "/repo/ ../etc", "/repo/. ./x", "/repo/..", "/repo/./a"]
    },
    "rev-007 what looks like dots and slashes": {
      rule: "fs/read(path=/repo/**)",
      through: ["/repo/日本語", "/repo/e\u0301t\u00e9"],
      back: ["/repo/\uff0e\uff0e/etc", "/repo/a\uff0f..\uff0fb", "/repo/\u2024\u2024/etc", "/repo/\u2025/etc"]
    },
    "rev-008 hosts of one domain": {
      rule: "fs/read(path=https://*.example.com/**)",
      through: ["https://api.example.com/v1/x?q=1", "https://a.b.example.com/x"],
      back: [
        "https://evil.test?.example.com/x",
        "https://evil.test#.example.com/x",
        "https://user@evil.test?.example.com/x",
        "https://evil.test\\.example.com/x",
        "https://me:pass@api.example.com/x",
        "https://evil.test/.example.com/x",
        "https://example.com/x"
      ]
    },
    "rev-009 hosts without a scheme": {
      rule: "fs/read(path=*.example.com/**)",
      through: ["api.example.com/x"],
      back: ["evil.test?.example.com/x", "evil.test#.example.com/x", "me@evil.test:80?.example.com/x"]
    },
    "rev-010 the home folder, written as in the rule": {
      rule: "fs/read(path=~/work/**)",
      through: ["~/work/a"],
      back: ["~/work/../.ssh/id", "~root/work/a", "/home/me/work/a", "$HOME/work/a"]
    },
    "rev-011 exactly what is written": {
      rule: "fs/read(path=a\\\\b%20(c))",
      through: ["a\\b%20(c)"],
      back: ["a\\b (c)", "a/b%20(c)", "a\\b%20(c) "]
    },
    "rev-012 anything, if that is all that is asked": {
      rule: "fs/read(path=*)",
      through: ["", "two\nlines", "/any/../path", 5, true, "x".repeat(100_000), [{ path: "x" }], { a: 1 }, null]
    },
    "rev-013 a number as it is, and a text that says the same": {
      rule: "fs/read(path=10)",
      through: [10, "10"],
      back: [10.5, 100, "1e1", "0xa", " 10", [10], true, null]
    },
    "rev-014 no list where a text is meant": {
      rule: "fs/read(path=/repo/**)",
      through: ["/repo/a"],
      back: [["/repo/a"], [["/repo/a"]], { path: "/repo/a" }, { toString: "/repo/a" }, null]
    },
    "rev-042 one command, and none that begins within it": {
      rule: "fs/read(path=git *)",
      through: ["git status", "git log --oneline -n 5", "git add b.ts"],
      back: [
        "git status; curl evil.test",
        "git status && reboot",
        "git status & reboot",
        "git status | sh",
        "git status > .bashrc",
        "git log `id`",
        "git log $(id)",
        "git log $IFS",
        "git status\nreboot",
        "git"
      ]
    },
    "rev-043 a command with as much of the shell in it as is written": {
      rule: "fs/read(path=npm test | tail *)",
      through: ["npm test | tail -n 5"],
      back: ["npm test | tail -n 5 | sh", "npm test | tail -n 5; reboot"]
    },
    "rev-044 files by their addresses, which have no host": {
      rule: "fs/read(path=file:///repo/**)",
      through: ["file:///repo/a", "file:///repo/a/b.ts"],
      back: ["file:////repo/a", "file:///repo//a", "file:///repo/../etc/passwd", "file://repo/a", "https:///repo/a"]
    }
  }
  for (const [name, { back = [], rule, through = [] }] of Object.entries(cases)) {
    it(name, () => {
      for (const path of through) assert.strictEqual(by("allow", rule, { args: args(path) }), "allow", shown(path))
      for (const path of back) assert.strictEqual(by("allow", rule, { args: args(path) }), "ask", shown(path))
    })
  }
})

describe("a deny for a path holds back", () => {
  const cases: Readonly<Record<string, Case>> = {
    "rev-015 a folder of Windows, however it is written": {
      rule: "fs/read(path=C:\\Windows\\**)",
      back: [
        "C:\\Windows\\win.ini",
        "C:/Windows/win.ini",
        "c:\\windows\\WIN.INI",
        "C:\\Windows\\..\\Windows\\x",
        "C:\\repo\\..\\Windows\\x",
        "\\\\?\\C:\\Windows\\x",
        "\\\\.\\C:\\Windows\\x",
        "//?/C:/Windows/x",
        "file:///C:/Windows/x",
        "/C:/Windows/x",
        "C:\\Windows.\\x",
        "C:\\Windows \\x",
        "C:\\Windows"
      ],
      through: ["C:\\WindowsApps\\x", "D:\\Windows\\x", "C:\\repo\\Windows\\x"]
    },
    "rev-016 a file of Windows, with a stream of it": {
      rule: "fs/read(path=C:\\secret.txt)",
      back: ["C:\\secret.txt::$DATA", "C:/secret.txt.", "c:\\Secret.TXT "],
      through: ["C:\\secret.txt.bak"]
    },
    "rev-017 a folder itself": {
      rule: "fs/read(path=/etc/**)",
      back: ["/etc", "/etc/", "/etc/.", "/etc/x/..", "//etc", "/ETC/passwd", "/etc/a/b/c"],
      through: ["/etcetera", "/usr/etc/x", "etc/x"]
    },
    "rev-018 a way out of wherever it begins": {
      rule: "fs/read(path=/etc/**)",
      back: ["../../etc/passwd", "a/../../../etc/passwd", "~/../../etc/passwd", "..\\..\\etc\\passwd"],
      through: ["a/../etc/passwd"]
    },
    "rev-019 a name in any folder, and in none": {
      rule: "fs/read(path=**/.env)",
      back: [".env", "./.env", "/repo/.env", "a/b/.env", ".ENV", "a\\.env", "/repo/.env/", ".env\u0000.txt", "%2eenv"],
      through: [".env.example", "x.env", "a/.envrc"]
    },
    "rev-020 a glob in the middle, with nothing there too": {
      rule: "fs/read(path=/repo/**/secret/**)",
      back: ["/repo/secret/a", "/repo/a/secret/b", "/repo/a/b/secret", "/repo//secret/x"],
      through: ["/repo/secrets/a", "/repo/a/secret.txt", "/other/secret/a"]
    },
    "rev-021 the home folder, whoever writes it how": {
      rule: "fs/read(path=~/.ssh/**)",
      back: [
        "~/.ssh/id_rsa",
        "$HOME/.ssh/id_rsa",
        "${HOME}/.ssh/id_rsa",
        "/home/me/.ssh/id_rsa",
        "/Users/me/.ssh/id_rsa",
        "/root/.ssh/id_rsa",
        "C:\\Users\\me\\.ssh\\id_rsa",
        "%USERPROFILE%\\.ssh\\id_rsa",
        "~me/.ssh/id_rsa",
        "/home/me/x/../.ssh/id_rsa"
      ],
      through: ["/srv/.ssh/id_rsa", "/home/me/work/.ssh/id_rsa", "~/.sshx/id"]
    },
    "rev-022 one home by its name, and by the sign for it": {
      rule: "fs/read(path=/home/me/.ssh/**)",
      back: ["/home/me/.ssh/id", "~/.ssh/id", "$HOME/.ssh/id"],
      through: ["/home/you/.ssh/id"]
    },
    "rev-023 escapes, of which one is none": {
      rule: "fs/read(path=/etc/**)",
      back: ["/%65tc/passwd%", "/%zz/../%65tc/passwd", "%2fetc%2fpasswd", "/etc%2Fpasswd", "/%25%36%35tc/x"],
      through: ["/e%74/passwd"]
    },
    "rev-024 an address, however it is written": {
      rule: "fs/read(path=https://internal.example/**)",
      back: [
        "https://internal.example/x",
        "https://internal.example",
        "HTTPS://INTERNAL.EXAMPLE/x",
        "https://internal.example:443/x",
        "https://internal.example:8443/x",
        "https://me:pass@internal.example/x",
        "https:\\\\internal.example\\x",
        "https:/internal.example/x",
        "https:internal.example/x",
        "https://internal.example./x",
        "https://int\u00adernal.example/x",
        "https://intern\tal.example/x",
        "https://\uff49nternal.example/x",
        "https://%69nternal.example/x"
      ],
      through: ["https://internal.example.org/x", "https://x.example/internal.example/"]
    },
    "rev-025 a machine by any spelling of its number": {
      rule: "fs/read(path=http://169.254.169.254/**)",
      back: [
        "http://169.254.169.254/latest",
        "http://2852039166/latest",
        "http://0xa9fea9fe/latest",
        "http://0251.0376.0251.0376/latest",
        "http://169.254.43518/latest"
      ],
      through: ["http://169.254.169.253/latest"]
    },
    "rev-026 what letters only look like": {
      rule: "fs/read(path=/etc/passwd)",
      back: ["/etc/\uff50asswd", "\uff0fetc\uff0fpasswd", "/etc/pas\u017fwd", "/ETC/PASSWD"],
      through: ["/etc/passwd2"]
    },
    "rev-027 numbers by what they are": {
      rule: "fs/read(path=1000)",
      back: [1000, "1000", "1000.0", "1e3", " 1000 ", "0x3e8", [1000], { n: 1000 }],
      through: [10_000, "1000x", ""]
    },
    "rev-028 yes and no in the ways in which servers read them": {
      rule: "fs/read(path=true)",
      back: [true, "true", "True", "TRUE", 1, "1", "yes", "on"],
      through: [false, "false", 0, "truely"]
    },
    "rev-029 nothing, if nothing is named": {
      rule: "fs/read(path=null)",
      back: [null, "null"],
      through: ["x", 0]
    },
    "rev-030 within lists, objects and texts that servers read as such": {
      rule: "fs/read(path=/etc/**)",
      back: [
        ["/repo/a", "/etc/passwd"],
        [["/etc/passwd"]],
        { a: { b: ["/etc/passwd"] } },
        "[\"/etc/passwd\"]",
        "{\"path\":\"/etc/passwd\"}",
        " [[\"/etc/passwd\"]] "
      ],
      through: [["/repo/a"], "[\"/repo/a\"]", "[not json"]
    },
    "rev-031 huge values, which could be anything": {
      rule: "fs/read(path=/etc/**)",
      back: [
        `/x/${"a/".repeat(40_000)}`,
        Array.from({ length: 20_000 }, () => "x"),
        `/a${"\u0301\u0316".repeat(30_000)}`
      ],
      through: ["x".repeat(1_000), Array.from({ length: 100 }, () => "x")]
    },
    "rev-032 a folder of this place, in every way to say it": {
      rule: "fs/read(path=./secrets/**)",
      back: ["secrets/a", "./secrets/a", "secrets", "x/../secrets/a", ".\\secrets\\a"],
      through: ["secretsx/a"]
    },
    "rev-045 words, whatever is between them": {
      rule: "fs/read(path=rm *)",
      back: ["rm -rf /", "rm  -rf /", "rm\t-rf /", "rm\n-rf /", "rm\u00a0-rf /", " rm -rf /"],
      through: ["rmdir x", "confirm x"]
    },
    "rev-046 a machine by the newer addresses that carry its older one": {
      rule: "fs/read(path=http://169.254.169.254/**)",
      back: [
        "http://[::ffff:169.254.169.254]/latest",
        "http://[::ffff:a9fe:a9fe]:80/latest",
        "http://[0:0:0:0:0:ffff:a9fe:a9fe]/latest",
        "http://[::169.254.169.254]/latest",
        "http://[64:ff9b::a9fe:a9fe]/latest"
      ],
      through: ["http://[::ffff:169.254.169.253]/latest", "http://[2001:db8::a9fe:a9fe]/latest"]
    },
    "rev-047 the home folder as Windows puts it together": {
      rule: "fs/read(path=~/.ssh/**)",
      back: ["%HOMEPATH%\\.ssh\\id_rsa", "%HomeDrive%%HomePath%\\.ssh\\id_rsa"],
      through: ["%PATH%\\.ssh\\id_rsa"]
    }
  }
  for (const [name, { back = [], rule, through = [] }] of Object.entries(cases)) {
    it(name, () => {
      for (const path of back) {
        assert.strictEqual(by("deny", rule, { args: args(path) }), "deny", shown(path))
      }
      for (const path of through) {
        assert.strictEqual(by("deny", rule, { args: args(path) }), "allow", shown(path))
      }
    })
  }
})

describe("arguments are found", () => {
  it("rev-033 by a name with dots, whether it is one or a way into another", () => {
    for (
      const given of [{ "a.b": "x" }, { a: { b: "x" } }, { A: { B: "x" } }, { "A.b": "x" }, { o: [{ a: { b: "x" } }] }]
    ) {
      assert.strictEqual(by("deny", "fs/read(a.b=x)", { args: given }), "deny", JSON.stringify(given))
    }
    assert.strictEqual(by("deny", "fs/read(a.b=x)", { args: { a: "x", b: "x" } }), "allow")
    assert.strictEqual(by("allow", "fs/read(a.b=x)", { args: { "a.b": "x" } }), "allow")
    assert.strictEqual(by("allow", "fs/read(a.b=x)", { args: { a: { b: "x" } } }), "allow")
    for (
      const given of [
        { "a.b": "x", a: { b: "y" } },
        { "a.b": "y", a: { b: "x" } },
        { "A.b": "x" },
        { a: { b: "x", c: {} } },
        { a: { b: "x" }, c: {} },
        { a: {} },
        { a: [{ b: "x" }] },
        {}
      ]
    ) assert.strictEqual(by("allow", "fs/read(a.b=x)", { args: given }), "ask", JSON.stringify(given))
  })

  it("rev-034 in lists of objects, however deep, where a deny speaks of them", () => {
    const rule = "fs/read(path=/etc/**)"
    for (
      const given of [
        { requests: [{ path: "/repo/a" }, { path: "/etc/passwd" }] },
        { requests: [[{ path: "/etc/passwd" }]] },
        { options: { of: { path: "/etc/passwd" } } },
        { input: "{\"path\":\"/etc/passwd\"}" },
        { requests: "[{\"PATH\":\"/etc/passwd\"}]" }
      ]
    ) assert.strictEqual(by("deny", rule, { args: given }), "deny", JSON.stringify(given))
    for (const given of [{ requests: [{ path: "/repo/a" }] }, { other: "/etc/passwd" }]) {
      assert.strictEqual(by("deny", rule, { args: given }), "allow", JSON.stringify(given))
    }
  })

  it("rev-035 in lists of objects of which an allow says that they are as they like", () => {
    const rule = "fs/read(path=/repo/**, edits=*)"
    assert.strictEqual(by("allow", rule, { args: { path: "/repo/a", edits: [{ old: "a", new: "b\nc" }] } }), "allow")
    assert.strictEqual(by("allow", rule, { args: { path: "/repo/a" } }), "ask")
    assert.strictEqual(by("allow", rule, { args: { path: "/etc/a", edits: [] } }), "ask")
    assert.strictEqual(by("allow", rule, { args: { path: "/repo/a", edits: [], more: 1 } }), "ask")
  })

  it("rev-036 however deep they are, without an end of the stack", () => {
    let deep: JsonRpc.Json = "/etc/passwd"
    for (let at = 0; at < 200_000; at++) deep = at % 2 === 0 ? [deep] : { a: deep }
    for (const rule of ["fs/read(path=/etc/**)", "fs/read(q=x)"]) {
      assert.strictEqual(by("deny", rule, { args: { path: deep } }), "deny")
    }
    assert.strictEqual(by("allow", "fs/read(path=/etc/**)", { args: { path: deep } }), "ask")
  })

  it("rev-037 on no prototype, and by names that are on every prototype", () => {
    const odd = JSON.parse("{\"__proto__\":{\"path\":\"/etc/passwd\"},\"constructor\":\"x\"}") as JsonRpc.JsonObject
    assert.strictEqual(by("deny", "fs/read(path=/etc/**)", { args: odd }), "deny")
    assert.strictEqual(by("deny", "fs/read(constructor=x)", { args: odd }), "deny")
    assert.strictEqual(by("deny", "fs/read(hasOwnProperty=*)", { args: {} }), "allow")
    assert.strictEqual(by("allow", "fs/read(constructor=x)", { args: odd }), "ask")
  })
})

describe("what a rule is about", () => {
  const holds = (text: string | PermissionRule.Input, subject: Partial<PermissionRule.Subject>) =>
    by("deny", text, { server: "github", name: "delete_repo", ...subject })

  it("rev-038 is read in every way to write it where it holds back", () => {
    for (
      const text of [
        "github/delete_repo",
        "github.delete_repo",
        "mcp__github__delete_repo",
        "mcp__github__delete_*",
        "mcp__github_*",
        "mcp__github/delete_repo",
        "mcp__github.delete_repo",
        "mcp__github/*",
        "mcp__*__delete_*",
        "mcp_github_*",
        "mcp__github",
        "github/**",
        "*/delete_*",
        "**"
      ]
    ) {
      assert.strictEqual(holds(text, {}), "deny", text)
      assert.isTrue(Either.isRight(PermissionRule.parse({ decision: "deny", tool: text })), text)
    }
    // what is written in none of them is at least as strict
    for (const text of ["github:delete_repo", "github delete_repo", "delete_repo"]) {
      assert.strictEqual(holds(text, {}), "deny", text)
      assert.isTrue(Either.isLeft(PermissionRule.parse({ decision: "deny", tool: text })), text)
    }
  })

  it("rev-039 is read in one way only where it lets through", () => {
    const allows = (text: string, server: string, name: string) =>
      PermissionRule.compile(rules("allow", text)).decide({ kind: "tool", server, name })?.decision ?? "ask"
    for (const text of ["mcp__github/delete_repo", "mcp__github.delete_repo", "mcp__github_*", "mcp_github_*"]) {
      assert.strictEqual(allows(text, "github", "delete_repo"), "ask", text)
    }
    assert.strictEqual(allows("mcp__a__b__c", "a", "b__c"), "allow")
    assert.strictEqual(allows("mcp__a__b__c", "a__b", "c"), "ask")
    assert.strictEqual(allows("a/b", "A", "b"), "ask")
    assert.strictEqual(allows("a/b", "a", "B"), "ask")
    assert.strictEqual(allows("a/b*", "a", "b/../c"), "allow")
    assert.strictEqual(allows("a/b", "а", "b"), "ask")
  })

  it("rev-040 is a resource or a prompt in every way to write that", () => {
    const uri = "file:///secret/a"
    for (
      const rule of [
        "fs/resource:file:///secret/*",
        "fs.resource:file:///secret/**",
        "mcp__fs__resource:file:///secret/*",
        "mcp__fs/resource:file:///secret/*",
        { decision: "deny", server: "fs", tool: "resource:file:///secret/*" },
        { decision: "deny", server: "fs", tool: "**" }
      ] satisfies ReadonlyArray<string | PermissionRule.Input>
    ) {
      const text = typeof rule === "string" ? rule : `${rule.server}, ${rule.tool}`
      assert.strictEqual(by("deny", rule, { kind: "resource", name: uri }), "deny", text)
    }
    for (const other of ["FILE:///secret/a", "file:///x/../secret/a", "file:///%73ecret/a", "file:///secret"]) {
      assert.strictEqual(by("deny", "fs/resource:file:///secret/*", { kind: "resource", name: other }), "deny", other)
    }
    assert.strictEqual(by("deny", "fs/prompt:p*", { kind: "prompt", name: "pq" }), "deny")
    assert.strictEqual(by("deny", "mcp__fs__prompt:p", { kind: "prompt", name: "p" }), "deny")
    assert.strictEqual(
      by("deny", "fs/prompt:p(to=*@evil.test)", { kind: "prompt", name: "p", args: { to: "me@evil.test" } }),
      "deny"
    )
    assert.strictEqual(by("allow", "fs/prompt:p(to=me)", { kind: "prompt", name: "p", args: { to: "you" } }), "ask")
    assert.strictEqual(by("allow", "fs/prompt:p(to=me)", { kind: "prompt", name: "p", args: { to: "me" } }), "allow")
    // a resource has no arguments, so a rule that names some would never speak
    const nowhere = { decision: "deny", tool: "fs/resource:x", args: { a: "1" } } as const
    assert.isTrue(Either.isLeft(PermissionRule.parse(nowhere)))
    const file = (name: string) => by("allow", "fs/resource:file:///repo/**", { kind: "resource", name })
    assert.strictEqual(file("file:///repo/a"), "allow")
    assert.strictEqual(file("file:///repo/%2e%2e/a"), "ask")
  })

  it("rev-041 costs no more the more names of models are allowed", () => {
    const all = PermissionRule.compile(
      Array.from({ length: lengths(100_000) }, (_, at) => ({ decision: "allow", tool: `mcp__s__tool${at}` }) as const)
    )
    // names that are looked through one by one would never get through this
    for (let at = 0; at < lengths(20_000); at++) {
      assert.strictEqual(all.decide({ kind: "tool", server: "s", name: `tool${at}` })?.decision, "allow")
      assert.isUndefined(all.decide({ kind: "tool", server: "t", name: `tool${at}` }))
    }
  })
})
