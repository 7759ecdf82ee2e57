// What the format `email` takes: one address as mail headers write it, with or without a name.

class Words {
  private readonly text: string
  at = 0

  constructor(text: string) {
    this.text = text
  }

  get next(): string | undefined {
    return this.text[this.at]
  }

  take(letter: string): boolean {
    if (this.next !== letter) return false
    this.at++
    return true
  }

  skipSpace(): void {
    while (this.next === ' ' || this.next === '\t') this.at++
  }

  /** Letters up to one that has a meaning in addresses; a point is one of them where it may be. */
  atom(mayHaveDots: boolean): string | undefined {
    const start = this.at
    while (this.next !== undefined && isAtomLetter(this.next, mayHaveDots)) this.at++
    return this.at > start ? this.text.slice(start, this.at) : undefined
  }

  /** Points neither begin nor end it, nor follow one another. */
  dotAtom(): boolean {
    const atom = this.atom(true)
    return atom !== undefined && !atom.startsWith('.') && !atom.endsWith('.') && !atom.includes('..')
  }

  /** In quotes; how long it is, or undefined. */
  quoted(): number | undefined {
    if (!this.take('"')) return undefined
    let length = 0
    for (;;) {
      if (this.take('"')) return length
      if (this.take('\\') && this.next !== undefined && !isPrintable(this.next)) return undefined
      if (this.next === undefined || !isPrintable(this.next)) return undefined
      this.at++
      length++
    }
  }

  /** In brackets, which may stand in one another. */
  comment(): boolean {
    if (!this.take('(')) return false
    for (let depth = 1; depth > 0; this.at++) {
      if (this.next === undefined) return false
      if (this.next === '\\') this.at++
      else if (this.next === '(') depth++
      else if (this.next === ')') depth--
    }
    return true
  }
}

const isPrintable = (letter: string): boolean => letter === ' ' || letter === '\t' || (letter >= '!' && letter !== '\u007f')
const isAtomLetter = (letter: string, mayHaveDots: boolean): boolean =>
  letter === '.' ? mayHaveDots : letter > ' ' && letter !== '\u007f' && !'()[];@\\,<>":'.includes(letter)

function readAddress(words: Words): boolean {
  words.skipSpace()
  const hasName = words.next === '"' ? (words.quoted() ?? 0) > 0 : words.dotAtom()
  if (!hasName || !words.take('@')) return false
  words.skipSpace()
  return words.dotAtom()
}

/** A name before an address in angle brackets. */
function readName(words: Words): boolean {
  let count = 0
  for (words.skipSpace(); words.next !== undefined && words.next !== '<'; words.skipSpace()) {
    const isWord = words.next === '"' ? words.quoted() !== undefined : words.atom(true) !== undefined
    if (!isWord) return false
    count++
  }
  return count > 0 || words.next === '<'
}

export function isMailAddress(text: string): boolean {
  let words = new Words(text)
  if (!readAddress(words)) {
    words = new Words(text)
    if (!readName(words) || !words.take('<') || !readAddress(words) || !words.take('>')) return false
  }
  words.skipSpace()
  if (words.next === '(' && !words.comment()) return false
  words.skipSpace()
  return words.next === undefined
}
