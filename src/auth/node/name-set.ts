// Names, of which one pod may bring very many: a set that grows arranges all that it has anew, which takes ten milliseconds for 100,000. So there are several.

const mostInOne = 2000

export class NameSet implements Iterable<string> {
  readonly #sets: Set<string>[] = []
  #size = 0
  #letters = 0

  /** About how many there are: of very many some may be counted, and told, twice. */
  get size(): number {
    return this.#size
  }

  /** Of all of them together. */
  get letters(): number {
    return this.#letters
  }

  has(name: string): boolean {
    for (const set of this.#sets) if (set.has(name)) return true
    return false
  }

  add(name: string): void {
    const last = this.#sets.at(-1)
    if (last?.has(name) === true) return
    if (last === undefined || last.size >= mostInOne) this.#sets.push(new Set([name]))
    else last.add(name)
    this.#size += 1
    this.#letters += name.length
  }

  *[Symbol.iterator](): Generator<string, void, undefined> {
    for (const set of this.#sets) yield* set
  }
}
