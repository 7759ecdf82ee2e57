// How a document is written in one form: its paths and definitions as entries that can stand in any order and number, and what stands around them.

import type { JsonSchema } from '../../schema/openapi.js'

/** Yields where others may have their turn: one entry may be long. */
export type EntrySteps = Generator<undefined, Uint8Array, void>

export interface DocumentForm {
  /** What stands between two entries. */
  readonly separator: Uint8Array
  readonly path: (path: string, item: JsonSchema) => EntrySteps
  readonly definition: (name: string, schema: JsonSchema) => EntrySteps
  readonly frame: (info: JsonSchema, lengths: SectionLengths) => Frame
}

/** How many bytes the paths and the definitions have, with what stands between them. */
export interface SectionLengths {
  readonly paths: number
  readonly definitions: number
}

export interface Frame {
  readonly before: Uint8Array
  readonly between: Uint8Array
  readonly after: Uint8Array
}

/** Joins what comes one by one. */
export class Entries {
  readonly #form: Pick<DocumentForm, 'separator'>
  readonly #parts: Uint8Array[] = []

  constructor(form: Pick<DocumentForm, 'separator'>) {
    this.#form = form
  }

  add(entry: Uint8Array): void {
    if (this.#parts.length > 0 && this.#form.separator.length > 0) this.#parts.push(this.#form.separator)
    this.#parts.push(entry)
  }

  /** Undefined where there are none. */
  *joined(): Generator<undefined, Uint8Array | undefined, void> {
    return this.#parts.length === 0 ? undefined : yield* concatenated(this.#parts)
  }
}

const copiedAtOnce = 256 * 1024

/** In steps: all of it may have megabytes. */
export function* concatenated(parts: readonly Uint8Array[]): EntrySteps {
  // Every byte is written below.
  const whole = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0))
  let [at, copied] = [0, 0]
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
    if (at - copied < copiedAtOnce) continue
    copied = at
    yield
  }
  return whole
}
