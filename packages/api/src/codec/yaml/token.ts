// The words of a YAML text, as the scanner gives them to the parser.

export type TokenKind =
  | 'stream-end'
  | 'directive'
  | 'document-start'
  | 'document-end'
  | 'sequence-start'
  | 'mapping-start'
  /** Of a collection that indentation opened. */
  | 'block-end'
  | '['
  | ']'
  | '{'
  | '}'
  | ','
  | '-'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar'

export interface Token {
  readonly kind: TokenKind
  /** Counted from 0. */
  readonly line: number
  /** The text of a scalar, the name of an anchor, the suffix of a tag, the value of a directive. */
  readonly value?: string
  /** The handle of a tag, `!!` for one; empty for a tag that is spelt out. The name of a directive. */
  readonly name?: string
  /** Of a scalar: without quotes, and so perhaps not a text. */
  readonly isPlain?: boolean
}
