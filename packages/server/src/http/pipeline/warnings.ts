// The texts of a response's `Warning` headers: each once, and truncated as in kube-apiserver if they are too long together.

const maxTotalCharacters = 4096
/** Maximum length of each warning once the total was exceeded. */
const maxCharactersEach = 256

export class Warnings {
  readonly #texts = new Set<string>()
  #length = 0
  #isTruncating = false

  add(text: string): void {
    if (text === '' || this.#isFull || this.#texts.has(text)) return
    this.#texts.add(this.#isTruncating ? truncate(text) : text)
    this.#length += this.#isTruncating ? Math.min(text.length, maxCharactersEach) : text.length
    if (!this.#isTruncating && this.#length > maxTotalCharacters) this.#truncateAll()
  }

  get texts(): Iterable<string> {
    return this.#texts
  }

  get #isFull(): boolean {
    return this.#isTruncating && this.#length >= maxTotalCharacters
  }

  #truncateAll(): void {
    this.#isTruncating = true
    const texts = [...this.#texts]
    this.#texts.clear()
    this.#length = 0
    for (const text of texts) {
      this.#texts.add(truncate(text))
      this.#length += Math.min(text.length, maxCharactersEach)
    }
  }
}

/** Does not split a surrogate pair. */
function truncate(text: string): string {
  if (text.length <= maxCharactersEach) return text
  const lastCodePoint = text.codePointAt(maxCharactersEach - 1) ?? 0
  return text.slice(0, lastCodePoint > 0xffff ? maxCharactersEach - 1 : maxCharactersEach)
}
