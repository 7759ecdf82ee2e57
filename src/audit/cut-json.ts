// JSON texts as they go into events: without spaces between tokens, and without managed fields where nobody wants them. The text is copied and not
// parsed, so that numbers stay as they are.

const space = /[ \t\r\n]/

/** Where members called `managedFields` are left out: below `metadata` of the object, of each item and of the object of each row. */
type Place = 'object' | 'metadata' | 'items' | 'rows' | 'row' | 'other'

const below: { readonly [At in Place]: (name: string) => Place } = {
  object: (name) => (name === 'metadata' || name === 'items' || name === 'rows' ? name : 'other'),
  row: (name) => (name === 'object' ? 'object' : 'other'),
  metadata: () => 'other',
  items: () => 'other',
  rows: () => 'other',
  other: () => 'other',
}

const elementOf = (place: Place): Place => (place === 'items' ? 'object' : place === 'rows' ? 'row' : 'other')

/** A well-formed text in its shortest form. */
export function compactJson(text: string): string {
  return new Copier(text, false).copy()
}

export function withoutManagedFields(text: string): string {
  return new Copier(text, true).copy()
}

class Copier {
  readonly #text: string
  readonly #cuts: boolean
  #at = 0
  /** What was copied, and from where on nothing has been yet. */
  readonly #parts: string[] = []
  #from = 0

  constructor(text: string, cuts: boolean) {
    this.#text = text
    this.#cuts = cuts
  }

  copy(): string {
    this.#value('object')
    this.#skip()
    this.#take(this.#at)
    return this.#parts.join('')
  }

  #take(until: number): void {
    if (until > this.#from) this.#parts.push(this.#text.slice(this.#from, until))
    this.#from = until
  }

  /** Spaces are left out. */
  #skip(): void {
    if (!space.test(this.#text[this.#at] ?? '')) return
    this.#take(this.#at)
    while (space.test(this.#text[this.#at] ?? '')) this.#at++
    this.#from = this.#at
  }

  #value(place: Place): void {
    this.#skip()
    const first = this.#text[this.#at]
    if (first === '{') this.#members(place)
    else if (first === '[') this.#elements(place)
    else if (first === '"') this.#string()
    else while (this.#at < this.#text.length && !isEnd(this.#text.charCodeAt(this.#at))) this.#at++
  }

  #members(place: Place): void {
    this.#at++
    let isFirst = true
    for (;;) {
      this.#skip()
      if (this.#text[this.#at] === '}' || this.#at >= this.#text.length) break
      // The comma in front of a member that is left out goes with it.
      if (this.#cuts && place === 'metadata') this.#take(this.#at)
      const kept = this.#parts.length
      if (this.#text[this.#at] === ',') this.#at++
      this.#skip()
      const nameAt = this.#at
      this.#string()
      const name = this.#text.slice(nameAt + 1, this.#at - 1)
      this.#skip()
      this.#at++
      if (this.#cuts && place === 'metadata' && name === 'managedFields') {
        this.#leaveOut(kept, isFirst)
        continue
      }
      isFirst = false
      this.#value(below[place](name))
    }
    this.#at++
  }

  /** Steps over a value without copying it and its name. */
  #leaveOut(kept: number, isFirst: boolean): void {
    this.#value('other')
    this.#skip()
    this.#parts.length = kept
    if (isFirst && this.#text[this.#at] === ',') this.#at++
    this.#from = this.#at
  }

  #elements(place: Place): void {
    this.#at++
    for (;;) {
      this.#skip()
      if (this.#text[this.#at] === ']' || this.#at >= this.#text.length) break
      if (this.#text[this.#at] === ',') this.#at++
      this.#value(elementOf(place))
    }
    this.#at++
  }

  #string(): void {
    for (let i = this.#at + 1; i < this.#text.length; i++) {
      const code = this.#text.charCodeAt(i)
      if (code === 0x5c) i++
      else if (code === 0x22) {
        this.#at = i + 1
        return
      }
    }
    this.#at = this.#text.length
  }
}

/** What ends a number, `true`, `false` or `null`. */
const isEnd = (code: number): boolean => code === 0x2c || code === 0x7d || code === 0x5d || code <= 0x20
