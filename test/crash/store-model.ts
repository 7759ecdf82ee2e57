// What the server has promised, kept beside it: the state of every key as acknowledged, what is in doubt, and which version meant what.

import assert from 'node:assert/strict'
import type { Wire, WireEvent } from '../kit/wire.js'

export interface Known {
  readonly value: string
  readonly version: number
}

/** A write whose answer never came: it may have happened or not. */
export interface Doubt {
  /** Undefined: a deletion. */
  readonly value: string | undefined
}

export class StoreModel {
  private readonly keys = new Map<string, Known>()
  private readonly doubts = new Map<string, Doubt>()
  /** What each version was, in the words of `describe`; the same version must always mean the same. */
  private readonly meanings = new Map<number, string>()
  readonly promised: (Known & { readonly key: string })[] = []
  highest = 0

  known(key: string): Known | undefined {
    return this.keys.get(key)
  }

  get size(): number {
    return this.keys.size
  }

  /** A write was acknowledged; `floor` is the highest version that anybody knew when it was sent. */
  acknowledge(key: string, known: Known, floor: number): void {
    assert.ok(known.version > floor, `${key} was given version ${known.version} although ${floor} had been seen before`)
    this.remember(known.version, describe(key, known.value))
    this.keys.set(key, known)
    this.promised.push({ key, ...known })
  }

  acknowledgeDeletion(key: string): void {
    this.keys.delete(key)
  }

  doubt(key: string, doubt: Doubt): void {
    this.doubts.set(key, doubt)
  }

  /** Somebody saw a version: it must mean what it meant to others. */
  remember(version: number, meaning: string): void {
    const before = this.meanings.get(version)
    assert.ok(before === undefined || before === meaning, `version ${version} was used twice: ${before} and ${meaning}`)
    this.meanings.set(version, meaning)
    this.highest = Math.max(this.highest, version)
  }

  /** After a restart: what is there must be what was acknowledged, or what was in doubt. Then the doubts are settled. */
  reconcile(list: Wire): void {
    const found = new Map(list.items.map((item) => [item.metadata.name, knownOf(item)]))
    for (const key of new Set([...this.keys.keys(), ...this.doubts.keys(), ...found.keys()])) {
      this.settle(key, found.get(key))
    }
    this.doubts.clear()
    assert.ok(
      Number(list.metadata.resourceVersion) >= this.highest,
      `the store went back from ${this.highest} to ${list.metadata.resourceVersion}`,
    )
  }

  private settle(key: string, found: Known | undefined): void {
    const promised = this.keys.get(key)
    if (promised?.value === found?.value && promised?.version === found?.version) return
    const doubt = this.doubts.get(key)
    const story = `${key}: promised ${JSON.stringify(promised)}, in doubt ${JSON.stringify(doubt)}, found ${JSON.stringify(found)}`
    assert.ok(doubt !== undefined && doubt.value === found?.value, `an acknowledged write is lost: ${story}`)
    if (found === undefined) {
      this.keys.delete(key)
      return
    }
    assert.ok(found.version > (promised?.version ?? 0), `a version went back: ${story}`)
    this.remember(found.version, describe(key, found.value))
    this.keys.set(key, found)
  }
}

const describe = (key: string, value: string): string => `${key} = ${value}`

export const knownOf = (object: Wire): Known => ({ value: object.data?.['v'] ?? '', version: Number(object.metadata.resourceVersion) })

/** What an event says, for comparing what several watchers saw. */
export function meaningOf({ type, object }: WireEvent): string {
  return type === 'DELETED' ? `${object.metadata.name} deleted` : describe(object.metadata.name, object.data?.['v'] ?? '')
}
