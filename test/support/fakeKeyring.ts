/** A keyring as the package `@napi-rs/keyring` shows it, in memory, that can be told to misbehave. */
import { Effect, Layer } from "effect"
import * as Keyring from "../../src/node/keyring.ts"

/** `shut`: it says no; `locked`: it waits for a person; `forgetful`: it keeps nothing. */
export type Mood = "open" | "shut" | "locked" | "forgetful"

export interface FakeKeyring {
  readonly module: Keyring.KeyringModule
  readonly entries: Map<string, Uint8Array>
  mood: Mood
  /** How often it was asked for anything. */
  asked: number
  /** The stores of Linux that it was asked for. */
  readonly stores: Set<string>
}

/** Bytes of an entry on Windows. */
export const largest = 2560

export const make = (limit = largest): FakeKeyring => {
  const entries = new Map<string, Uint8Array>()
  const turn = <A>(use: () => A): Promise<A> => {
    keyring.asked++
    switch (keyring.mood) {
      case "locked":
        return new Promise(() => undefined)
      case "shut":
        return Promise.reject(new Error("AccessDenied: the-secret-in-its-text"))
      default:
        return Promise.resolve().then(use)
    }
  }

  class AsyncEntry {
    private readonly name: string
    constructor(
      service: string,
      account: string,
      { linux: { store } }: { readonly linux: { readonly store: string } }
    ) {
      this.name = `${service} ${account}`
      keyring.stores.add(store)
    }
    getSecret() {
      return turn(() => {
        const there = entries.get(this.name)
        return there === undefined ? null : Array.from(there)
      })
    }
    setSecret(secret: Uint8Array) {
      return turn(() => {
        if (secret.length > limit) throw new Error("too long")
        if (keyring.mood !== "forgetful") entries.set(this.name, Uint8Array.from(secret))
      })
    }
  }

  const keyring: FakeKeyring = {
    module: { AsyncEntry },
    entries,
    mood: "open",
    asked: 0,
    stores: new Set()
  }
  return keyring
}

export const layer = ({ module }: FakeKeyring): Layer.Layer<never> =>
  Layer.succeed(Keyring.KeyringLoader, Effect.succeed(module))
