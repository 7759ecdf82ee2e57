// Removes whitespace and, if configured, managedFields from JSON without parsing it, so that numbers keep their spelling.

const whitespace = /[ \t\r\n]/

/** Position in the document: managedFields is removed from metadata of the object, of list items and of the objects of table rows. */
type Position = 'object' | 'metadata' | 'items' | 'rows' | 'row' | 'other'

const positionOfMember: { readonly [At in Position]: (name: string) => Position } = {
  object: (name) => (name === 'metadata' || name === 'items' || name === 'rows' ? name : 'other'),
  row: (name) => (name === 'object' ? 'object' : 'other'),
  metadata: () => 'other',
  items: () => 'other',
  rows: () => 'other',
  other: () => 'other',
}

const positionOfElement = (position: Position): Position => (position === 'items' ? 'object' : position === 'rows' ? 'row' : 'other')

export function compactJson(text: string): string {
  return new JsonCopier(text, false).copy()
}

export function withoutManagedFields(text: string): string {
  return new JsonCopier(text, true).copy()
}

class JsonCopier {
  readonly #text: string
  readonly #omitsManagedFields: boolean
  #offset = 0
  readonly #parts: string[] = []
  #copyStart = 0

  constructor(text: string, omitsManagedFields: boolean) {
    this.#text = text
    this.#omitsManagedFields = omitsManagedFields
  }

  copy(): string {
    this.#value('object')
    this.#skipSpace()
    this.#flush(this.#offset)
    return this.#parts.join('')
  }

  #flush(until: number): void {
    if (until > this.#copyStart) this.#parts.push(this.#text.slice(this.#copyStart, until))
    this.#copyStart = until
  }

  #skipSpace(): void {
    if (!whitespace.test(this.#text[this.#offset] ?? '')) return
    this.#flush(this.#offset)
    while (whitespace.test(this.#text[this.#offset] ?? '')) this.#offset++
    this.#copyStart = this.#offset
  }

  #value(position: Position): void {
    this.#skipSpace()
    const first = this.#text[this.#offset]
    if (first === '{') this.#members(position)
    else if (first === '[') this.#elements(position)
    else if (first === '"') this.#string()
    else while (this.#offset < this.#text.length && !isEndOfScalar(this.#text.charCodeAt(this.#offset))) this.#offset++
  }

  #members(position: Position): void {
    this.#offset++
    let isFirst = true
    for (;;) {
      this.#skipSpace()
      if (this.#text[this.#offset] === '}' || this.#offset >= this.#text.length) break
      if (this.#omitsManagedFields && position === 'metadata') this.#flush(this.#offset)
      const partsBefore = this.#parts.length
      if (this.#text[this.#offset] === ',') this.#offset++
      this.#skipSpace()
      const nameAt = this.#offset
      this.#string()
      const name = this.#text.slice(nameAt + 1, this.#offset - 1)
      this.#skipSpace()
      this.#offset++
      if (this.#omitsManagedFields && position === 'metadata' && name === 'managedFields') {
        this.#omitMember(partsBefore, isFirst)
        continue
      }
      isFirst = false
      this.#value(positionOfMember[position](name))
    }
    this.#offset++
  }

  #omitMember(partsBefore: number, isFirst: boolean): void {
    this.#value('other')
    this.#skipSpace()
    this.#parts.length = partsBefore
    if (isFirst && this.#text[this.#offset] === ',') this.#offset++
    this.#copyStart = this.#offset
  }

  #elements(position: Position): void {
    this.#offset++
    for (;;) {
      this.#skipSpace()
      if (this.#text[this.#offset] === ']' || this.#offset >= this.#text.length) break
      if (this.#text[this.#offset] === ',') this.#offset++
      this.#value(positionOfElement(position))
    }
    this.#offset++
  }

  #string(): void {
    for (let i = this.#offset + 1; i < this.#text.length; i++) {
      const code = this.#text.charCodeAt(i)
      if (code === 0x5c) i++
      else if (code === 0x22) {
        this.#offset = i + 1
        return
      }
    }
    this.#offset = this.#text.length
  }
}

const isEndOfScalar = (code: number): boolean => code === 0x2c || code === 0x7d || code === 0x5d || code <= 0x20
