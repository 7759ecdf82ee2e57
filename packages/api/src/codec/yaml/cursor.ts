// Cursor over YAML text with line and column, and the character classes of YAML 1.1.

/** Character code returned past the end of the text; YAML text contains no NUL. */
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

  advance(count = 1): void {
    this.at += count
    this.column += count
  }

  take(count = 1): string {
    const text = this.text.slice(this.at, this.at + count)
    this.advance(count)
    return text
  }

  /** Reads a line break as a line feed, except U+2028 and U+2029. */
  takeBreak(): string {
    const code = this.code()
    this.at += code === carriageReturn && this.code(1) === lineFeed ? 2 : 1
    this.line++
    this.column = 0
    return code === lineSeparator || code === paragraphSeparator ? String.fromCharCode(code) : '\n'
  }

  /** True if the mark starts a line and is followed by white space or the end of the text. */
  isAtDocumentMark(mark: '---' | '...'): boolean {
    return this.column === 0 && this.text.startsWith(mark, this.at) && isBlankOrEnd(this.code(3))
  }
}
