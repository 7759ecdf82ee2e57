// The warnings of one answer, within the bounds that the reference keeps: as long as all of them together are short they go out as they
// are; beyond that each is cut, and what comes when there is no more room is left out.

/** All of them together, in characters. */
const mostInAll = 4096
/** Each, once there were too many. */
const mostEach = 256

export class Warnings {
  readonly #texts = new Set<string>()
  #length = 0
  #isCutting = false

  /** Adds a text that was not said yet. */
  add(text: string): void {
    if (text === '' || this.#isFull || this.#texts.has(text)) return
    this.#texts.add(this.#isCutting ? cut(text) : text)
    this.#length += this.#isCutting ? Math.min(text.length, mostEach) : text.length
    if (!this.#isCutting && this.#length > mostInAll) this.#cutAll()
  }

  get texts(): Iterable<string> {
    return this.#texts
  }

  get #isFull(): boolean {
    return this.#isCutting && this.#length >= mostInAll
  }

  #cutAll(): void {
    this.#isCutting = true
    const texts = [...this.#texts]
    this.#texts.clear()
    this.#length = 0
    for (const text of texts) {
      this.#texts.add(cut(text))
      this.#length += Math.min(text.length, mostEach)
    }
  }
}

/** Characters, not code units: what is left must be well formed. */
function cut(text: string): string {
  if (text.length <= mostEach) return text
  const end = text.codePointAt(mostEach - 1) ?? 0
  return text.slice(0, end > 0xffff ? mostEach - 1 : mostEach)
}
