// A place in a YAML text that knows its line and column, and what kinds of characters YAML 1.1 tells apart.

/** No text that gets here has this character in it. */
export const endOfText = 0

const tab = 0x09
const lineFeed = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const nextLine = 0x85
const lineSeparator = 0x2028
const paragraphSeparator = 0x2029

export const isSpace = (code: number): boolean => code === space
export const isTab = (code: number): boolean => code === tab
export const isBlank = (code: number): boolean => code === space || code === tab
export const isBreak = (code: number): boolean =>
  code === lineFeed || code === carriageReturn || code === nextLine || code === lineSeparator || code === paragraphSeparator
export const isBreakOrEnd = (code: number): boolean => code === endOfText || isBreak(code)
export const isBlankOrEnd = (code: number): boolean => isBlank(code) || isBreakOrEnd(code)

export class Cursor {
  readonly text: string
  at = 0
  line = 0
  column = 0

  constructor(text: string) {
    this.text = text
  }

  code(ahead = 0): number {
    const index = this.at + ahead
    return index < this.text.length ? this.text.charCodeAt(index) : endOfText
  }

  /** Over characters that are no line breaks. */
  advance(count = 1): void {
    this.at += count
    this.column += count
  }

  take(count = 1): string {
    const taken = this.text.slice(this.at, this.at + count)
    this.advance(count)
    return taken
  }

  /** Over one line break, of whatever making; all but two kinds of them mean a line feed. */
  takeBreak(): string {
    const code = this.code()
    this.at += code === carriageReturn && this.code(1) === lineFeed ? 2 : 1
    this.line++
    this.column = 0
    return code === lineSeparator || code === paragraphSeparator ? String.fromCharCode(code) : '\n'
  }

  /** `---` or `...` at the beginning of a line, and nothing that would make it a word. */
  isAtDocumentMark(mark: '---' | '...'): boolean {
    return this.column === 0 && this.text.startsWith(mark, this.at) && isBlankOrEnd(this.code(3))
  }
}
