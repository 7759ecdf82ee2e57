// The state after the start, to which a server in memory can be put back: what differs from it is written in ordinary commits, so that whatever
// follows the store (watches, caches, roles, quotas, custom kinds, loops) sees the same as if clients had done it.

import { hostname } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { ownLease } from '../../controllers/bootstrap/own-objects.js'
import { collectionOf, keyOf } from '../../objects/keys.js'
import type { Write } from '../../storage/storage.js'
import type { Parts } from './parts.js'
import { untilIdle } from './until-idle.js'

const everything = { start: '\0', end: '\u{10ffff}' }
const definitions = { group: { stem: 'apiextensions' }, resource: 'customresourcedefinitions' } as const
/** How many writes go in one commit: what others wait for meanwhile. */
const mostWrites = 500
/** Whoever writes at the same time may make another round necessary. */
const mostRounds = 20
const shortPatienceMs = 200

export class StartState {
  readonly #parts: Parts
  /** The bytes under each key; the store never changes them. */
  readonly #values = new Map<string, Buffer>()
  /** Says that the server runs, and is renewed. */
  readonly #lease: string | undefined
  /** Where definitions of custom kinds lie. */
  readonly #definitions: string

  constructor(parts: Parts) {
    this.#parts = parts
    this.#lease = leaseKeyOf(parts)
    const { identity } = parts.engine
    this.#definitions = `${parts.catalogs.current.find(identity.group(definitions.group), 'v1', definitions.resource)?.collection}/`
    const { entries } = parts.storage.range({ ...everything, limit: Number.POSITIVE_INFINITY })
    for (const { key, value } of entries) this.#values.set(key, value)
  }

  /** Resolves when everything is as it was, and the loops have nothing more to do. */
  async restore(): Promise<void> {
    let isIdle = true
    for (let round = 0; round < mostRounds; round++) {
      // Who did not get done the first time waits for somebody outside, and would not get done now, either.
      isIdle = await untilIdle(this.#parts, isIdle ? undefined : shortPatienceMs)
      const differences = this.#differences()
      if (differences.length === 0) {
        this.#parts.forget()
        return
      }
      for (const writes of inOrder(differences, this.#definitions)) {
        await this.#parts.storage.commit(writes)
        // Watches of a kind whose definition goes next are told of its objects first.
        await setImmediate()
      }
    }
    throw new Error('reset: somebody keeps writing to the server; let requests end first')
  }

  #differences(): readonly Write[] {
    const writes: Write[] = []
    const missing = new Map(this.#values)
    for (const { key, value } of this.#parts.storage.range({ ...everything, limit: Number.POSITIVE_INFINITY }).entries) {
      const wanted = missing.get(key)
      missing.delete(key)
      if (!isSame(wanted, value) && key !== this.#lease) writes.push(this.#writeOf(key, wanted))
    }
    for (const [key, value] of missing) writes.push(this.#writeOf(key, value))
    return writes
  }

  /** What goes by itself after a while has all of its time again. */
  #writeOf(key: string, value: Buffer | undefined): Write {
    const resource = value === undefined ? undefined : this.#parts.catalogs.current.inCollection(collectionOf(key))
    const expiresAtMs = resource === undefined ? undefined : this.#parts.engine.store.expiryOf(resource)
    return expiresAtMs === undefined ? { key, value, expect: undefined } : { key, value, expect: undefined, expiresAtMs }
  }
}

/** What is encrypted in the store is other bytes each time it is read. */
const isSame = (wanted: Buffer | undefined, value: Buffer): boolean => wanted === value || wanted?.equals(value) === true

/** Objects of custom kinds go before their definitions and come after them. */
function* inOrder(differences: readonly Write[], definitionKeys: string): Generator<readonly Write[]> {
  const isDefinition = ({ key }: Write): boolean => key.startsWith(definitionKeys)
  const others = differences.filter((write) => !isDefinition(write))
  const groups = [
    others.filter(({ value }) => value === undefined),
    differences.filter(isDefinition),
    others.filter(({ value }) => value !== undefined),
  ]
  for (const group of groups) for (let i = 0; i < group.length; i += mostWrites) yield group.slice(i, i + mostWrites)
}

function leaseKeyOf({ engine: { identity }, catalogs }: Parts): string | undefined {
  const {
    group,
    version,
    resource,
    namespace = '',
    object,
  } = ownLease(identity, { hostname: hostname(), holder: '', leaseSeconds: 0, now: 0 })
  const leases = catalogs.current.find(identity.group(group), version, resource)
  return leases && keyOf(leases, namespace, object.metadata?.name ?? '')
}
