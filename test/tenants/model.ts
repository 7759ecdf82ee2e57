// Expected objects of one lane (a client that sends one request after the other), which is their only writer.

import type { Kind, Version } from './kinds.js'

export interface Key {
  readonly kind: Kind
  readonly name: string
  /** Possible versions of the key; undefined: absent. Several after a request with an unknown outcome. */
  possible: readonly (Version | undefined)[]
}

export class LaneModel {
  readonly lane: string
  readonly #keys = new Map<string, Key>()
  #names = 0

  constructor(lane: string) {
    this.lane = lane
  }

  get all(): readonly Key[] {
    return [...this.#keys.values()]
  }

  newKey(kind: Kind): Key {
    this.#names += 1
    const key: Key = { kind, name: `${this.lane}-${this.#names}`, possible: [undefined] }
    this.#keys.set(`${kind.resource}/${key.name}`, key)
    return key
  }

  find(resource: string, name: string): Key | undefined {
    return this.#keys.get(`${resource}/${name}`)
  }

  present(kind: Kind): readonly Key[] {
    return this.all.filter((key) => key.kind === kind && isPresent(key))
  }

  /** Keys whose state is not known. A lane writes to them once more at most, to delete them. */
  uncertain(kind: Kind): readonly Key[] {
    return this.all.filter((key) => key.kind === kind && key.possible.length > 1)
  }

  /** A request that would have changed the key to `next` had no known outcome. */
  addPossible(key: Key, next: Version | undefined): void {
    if (!key.possible.includes(next)) key.possible = [...key.possible, next]
  }
}

const isPresent = ({ possible }: Key): boolean => possible.length === 1 && possible[0] !== undefined
