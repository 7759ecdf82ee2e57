// A list to which thousands of operations insert and remove anywhere: in chunks, so that what an operation pushes along is bounded.

const chunkLength = 4096
/** Shorter lists are as quick without chunks. */
export const longLength = 2 * chunkLength

export class LongList {
  /** None of them is empty, but for the only one. */
  readonly #chunks: unknown[][] = []
  #length: number

  constructor(items: readonly unknown[]) {
    this.#length = items.length
    for (let at = 0; at < items.length; at += chunkLength) this.#chunks.push(items.slice(at, at + chunkLength))
    if (items.length === 0) this.#chunks.push([])
  }

  get length(): number {
    return this.#length
  }

  get(position: number): unknown {
    const { chunk, at } = this.#find(position)
    return chunk[at]
  }

  set(position: number, value: unknown): void {
    const { chunk, at } = this.#find(position)
    chunk[at] = value
  }

  insert(position: number, value: unknown): void {
    const { index, chunk, at } = this.#find(position)
    chunk.splice(at, 0, value)
    this.#length++
    if (chunk.length >= longLength) this.#chunks.splice(index + 1, 0, chunk.splice(chunkLength))
  }

  remove(position: number): void {
    const { index, chunk, at } = this.#find(position)
    chunk.splice(at, 1)
    this.#length--
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(index, 1)
  }

  items(): unknown[] {
    return ([] as unknown[]).concat(...this.#chunks)
  }

  /** The chunk with a position; behind the last item it is the last chunk. */
  #find(position: number): { readonly index: number; readonly chunk: unknown[]; readonly at: number } {
    let at = position
    let index = 0
    let chunk = this.#chunks[0] as unknown[]
    while (at >= chunk.length && index < this.#chunks.length - 1) {
      at -= chunk.length
      index++
      chunk = this.#chunks[index] as unknown[]
    }
    return { index, chunk, at }
  }
}
