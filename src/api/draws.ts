// What was drawn by lot for a request. Where the request is begun anew, the same is drawn in the same order, so that others are shown the object that
// they were shown before.

/** By what it is for. */
export interface Drawn {
  readonly suffixes: readonly string[]
  readonly uids: readonly string[]
}

export const nothingDrawn: Drawn = { suffixes: [], uids: [] }

export class Draws {
  readonly #before: Drawn
  readonly #all: { readonly suffixes: string[]; readonly uids: string[] } = { suffixes: [], uids: [] }

  constructor(before: Drawn = nothingDrawn) {
    this.#before = before
  }

  get drawn(): Drawn {
    return this.#all
  }

  draw(what: keyof Drawn, make: () => string): string {
    const all = this.#all[what]
    const text = this.#before[what][all.length] ?? make()
    all.push(text)
    return text
  }
}
