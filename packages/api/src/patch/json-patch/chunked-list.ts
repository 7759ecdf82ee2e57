// List in chunks for JSON patches with thousands of operations: an insertion moves at most one chunk.

const chunkLength = 4096
export const minChunkedLength = 2 * chunkLength

export class ChunkedList {
  /** No chunk is empty, unless it is the only one. */
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
    if (chunk.length >= minChunkedLength) this.#chunks.splice(index + 1, 0, chunk.splice(chunkLength))
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
