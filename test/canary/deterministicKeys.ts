import * as Context from "effect/Context"

export class Disk extends Context.Tag("SomethingElse")<Disk, { readonly bytes: number }>() {}
